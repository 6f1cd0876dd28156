"""Small runs of a pair, each with contents of its own: which cases, and recipes of which kind.

Most are recipes whose arrays are akin. Between them, every so often, are those that were made for
what these hardly ever have: each kind where there are arrays for it, on cases that have room for
it. What a kind draws depends on no other, so that one more leaves all others as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from runners import asked as words
from runners import (
    come_again,
    each_once,
    equal_sums,
    lone_powers,
    near_ends,
    nearly_alike,
    nearly_one,
    one_apart,
    piles,
    quarters,
    recipes,
    related,
    residues,
    seams,
    sizes,
    wrapped_pairs,
)
from runners.contents import Combination
from runners.inputs import stream
from runners.spec import Work

# Runs of recipes, behind each so many of which there is one more of another kind: families crossed,
# parts of a circle, powers of two in one array alone, numbers near an end of their range, pairs
# with one word that has run over, rows that have each number of a small range once, and a NaN;
# and three arrays of which one is what two others come to, rows that differ in a place, stretches
# that end where words do, rows that come again, two arrays that are nearly alike, numbers next to
# multiples, and others with equal sums.
MOST = 2400
CROSSED_OF, QUARTERS_OF, POWERS_OF, ENDS_OF, PAIRS_OF, ONCE_OF, NANS_OF = 2, 20, 10, 8, 40, 12, 8
RELATED_OF, APART_OF, SEAMS_OF, AGAIN_OF, ALIKE_OF, RESIDUES_OF = 12, 8, 8, 24, 12, 16
SUMS_OF = 32
# And of so many one that has sizes of its own, so many different ones: a rest of seven is wrong
# for whoever takes eight at a time and has forgotten it, and no list has every size. Every other
# one may have as many elements as this: of long rows there are hardly any among few.
SIZES_OF, SIZES, SIZED_ELEMENTS = 5, 150, 1 << 15
# So many of each case with just as many places as a range has numbers come ahead of all.
COMPLETE = 6
# In rows of three numbers a NaN stands between two that are in no order.
NAN_FAMILY = "nan"
# Elements of the cases, of one in so many more.
FEW_ELEMENTS, MOST_ELEMENTS, ONE_OF = 1 << 12, 1 << 16, 4
# By what the streams of the kinds are told from those of others.
STREAM = "fuzzed contents"

Case = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class _Kind:
    """Contents that have every so many-th turn: the number of their first recipe, and their cases.

    Without cases of their own they are on small ones, and now and then on any.
    """

    first: int
    every: int
    cases: Sequence[Case] | None = None


def asked(work: Work, seed: int, cases: Sequence[Case]) -> Iterator[Combination]:
    """Yield what is run: mostly small cases, each turn with contents of its own."""
    few = few_of(work, cases)
    if not few:
        return
    kinds = list(_kinds(work, few))
    rngs = [stream(seed, STREAM, *([kind.first] if at else ())) for at, kind in enumerate(kinds)]
    nans = stream(seed, STREAM, NAN_FAMILY)
    complete = each_once.cases(work) if any(k.first == recipes.EACH_ONCE for k in kinds) else []
    for turn, exact in enumerate(complete * COMPLETE):
        yield Combination(exact, f"{recipes.WORD} {recipes.EACH_ONCE + MOST + turn}", seed)
    sized = _sized(work, seed)
    # Of sums that come to a halt as many are enough to see what differs.
    for turn in range(MOST // 2 if piles.few_digits(work) else MOST):
        for kind, rng in zip(kinds, rngs, strict=True):
            own, last = divmod(turn, kind.every)
            if last < kind.every - 1:
                continue
            those = kind.cases or (cases if own % ONE_OF == ONE_OF - 1 else few)
            case = those[int(rng.integers(len(those)))]
            yield Combination(case, f"{recipes.WORD} {kind.first + own}", seed)
        if sized and turn % SIZES_OF == SIZES_OF - 1:
            own = turn // SIZES_OF
            case = sized[own % len(sized)]
            contents = _contents(work, case)
            number = contents[(own + own // len(sized)) % len(contents)] + MOST + own
            yield Combination(case, f"{recipes.WORD} {number}", seed)
        if words.NAN in work.asks and turn % NANS_OF == NANS_OF - 1:
            yield Combination(few[int(nans.integers(len(few)))], NAN_FAMILY, seed + turn)


def _sized(work: Work, seed: int) -> list[Case]:
    """Return cases whose sizes chance draws, of few elements and of more in turns."""
    each = (
        sizes.scattered(work, seed + more, SIZES // 2, most, times=sizes.TIMES_LONGER, parts=(1,))
        for more, most in enumerate((FEW_ELEMENTS, SIZED_ELEMENTS))
    )
    return [case.values for pair in zip(*each, strict=False) for case in pair]


def _contents(work: Work, case: Case) -> list[int]:
    """Return where the recipes begin that a case of drawn sizes has in turn, one of them twice."""
    alike = nearly_one.usable(work) or nearly_one.floats(work)
    apart = [recipes.ONE_APART] if one_apart.usable(work, case) else []
    return [
        recipes.FUZZED,
        *apart,
        recipes.CROSSED,
        *([recipes.SEAMS] if seams.usable(work, case) else ()),
        *apart,
        *([recipes.NEARLY_ONE] if alike else ()),
        *([recipes.COME_AGAIN] if come_again.usable(work) else ()),
        *([recipes.RESIDUES] if residues.usable(work) else ()),
    ]


def few_of(work: Work, cases: Sequence[Case]) -> list[Case]:
    """Return the cases of few elements; all of them where there are none."""
    return [case for case in cases if work.elements(case) <= FEW_ELEMENTS] or list(cases)


def _kinds(work: Work, few: Sequence[Case]) -> Iterator[_Kind]:
    """Yield the kinds of recipes that there are arrays and cases for, the most common one first."""
    yield _Kind(recipes.FUZZED, 1)
    yield _Kind(recipes.CROSSED, CROSSED_OF)
    even = [case for case in few if quarters.balanced(work, case)]
    if even and quarters.usable(work):
        yield _Kind(recipes.QUARTERS, QUARTERS_OF, even)
    if lone_powers.usable(work):
        yield _Kind(recipes.LONE_POWERS, POWERS_OF)
    if near_ends.usable(work):
        yield _Kind(recipes.NEAR_ENDS, ENDS_OF)
    if paired := [case for case in few if wrapped_pairs.usable(work, case)]:
        yield _Kind(recipes.WRAPPED, PAIRS_OF, paired)
    if whole := [case for case in few if each_once.usable(work, case)]:
        yield _Kind(recipes.EACH_ONCE, ONCE_OF, whole)
    if three := [case for case in few if related.usable(work, case)]:
        yield _Kind(recipes.RELATED, RELATED_OF, three)
    if alike := [case for case in few if nearly_alike.usable(work, case)]:
        yield _Kind(recipes.NEARLY_ALIKE, ALIKE_OF, alike)
    lengths = [*few, *one_apart.cases(work)]
    if apart := [case for case in lengths if one_apart.usable(work, case)]:
        yield _Kind(recipes.ONE_APART, APART_OF, apart)
    if long := [case for case in (*few, *seams.cases(work)) if seams.usable(work, case)]:
        yield _Kind(recipes.SEAMS, SEAMS_OF, long)
    if come_again.usable(work):
        yield _Kind(recipes.COME_AGAIN, AGAIN_OF)
    if summed := [case for case in lengths if equal_sums.usable(work, case)]:
        yield _Kind(recipes.EQUAL_SUMS, SUMS_OF, summed)
    if residues.usable(work):
        yield _Kind(recipes.RESIDUES, RESIDUES_OF, lengths)
