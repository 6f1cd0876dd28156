"""Cases that chance draws from all that a candidate has to be right for: one size far out, or two.

Sizes that nobody declared are asked one at a time, at a few places (`runners.sizes`). Here one of
them, or two together, is up to sixteen times as large as declared, and the others are as large as
in some declared case, or small, or one: what needs many patients of few genes and a long time has
its turn. Ahead of them are those in which two are as large as they may be, whatever chance draws.
With `runners.nearly_one` for contents (`runners.fuzzing`), and as long as there is time with all
that chance makes up elsewhere: what one element of a million shows, small runs do not have.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from runners import (
    far_and_full,
    far_scalars,
    near_ends,
    nearly_one,
    piles,
    recipes,
    sizes,
    two_numbers,
    wrapped_pairs,
)
from runners.axes import fitting
from runners.contents import Combination
from runners.families import DECLARED, captured_work
from runners.inputs import stream
from runners.spec import Work

# Cases, and contents of each; elements of all buffers, and of a case that is worth it.
CASES, CONTENTS = 14, 3
# How often each of those that are no larger than most has other contents, when all is done; and how
# often neighbours in it are pairs with one word.
ROUNDS, PAIRED = 40, 3
MOST_ELEMENTS, LEAST_ELEMENTS = 1 << 21, 1 << 12
# Where a size that is large as declared is not so many times as large in any of these: how many
# more there are, elements of all buffers of one, and how many others come first.
FAR, MORE, MOST_OF_FEW, AHEAD = 4, 2, 1 << 25, 4
# Cases in which two are as large as may be, and what is passed and may be a flag; elements where it
# is a size by itself.
TOGETHER, FLAG, MOST_ALONE = 8, 2, 1 << 26
# How often a size is as large as may be, and two of them are; what the others may be, too.
FARTHEST, TWO, SMALL_ONES = 0.5, 0.3, (1, 2, 3, 9, 33)

Case = Mapping[str, float]


def every(work: Work, seed: int, text: str = "") -> list[dict[str, float]]:
    """Return all cases that are large along a size or two: those that chance draws behind."""
    if captured_work(work):
        return []
    joint = together(work, text)
    return [*joint, *_behind(work, seed, text, joint)]


def _behind(work: Work, seed: int, text: str, joint: Sequence[Case]) -> list[dict[str, float]]:
    return [case for case in cases(work, seed, text) if case not in joint]


def asked(work: Work, seed: int, text: str = "") -> Iterator[Combination]:
    """Yield what is run: ends of ranges where sizes are as large as may be, then case by case.

    Of each contents as declared, then others.

    `text` is that of the original.
    """
    if captured_work(work):
        return
    others = CONTENTS if nearly_one.usable(work) or nearly_one.floats(work) else 0
    joint = together(work, text)
    # All of these are at their ends before any has other contents: there may be no time for those.
    for case in joint:
        for turn in nearly_one.ends(work):
            yield Combination(case, f"{recipes.WORD} {recipes.AT_ENDS + turn}", seed)
    for case, turn in itertools.product(joint, two_numbers.turns(work)):
        yield Combination(case, f"{recipes.WORD} {recipes.TWO_NUMBERS + turn}", seed)
    each = [*joint, *_behind(work, seed, text, joint)]
    for number, case in enumerate(each):
        yield Combination(case, DECLARED, seed)
        turns = [recipes.NEARLY_ONE + number * CONTENTS + turn for turn in range(others)]
        yield from (Combination(case, f"{recipes.WORD} {turn}", seed) for turn in turns)
    light = [case for case in each if sizes.elements(work, case) <= MOST_ELEMENTS]
    paired = [case for case in light if wrapped_pairs.usable(work, case)]
    for number, (_, case) in enumerate(itertools.product(range(PAIRED), paired)):
        yield Combination(case, f"{recipes.WORD} {recipes.WRAPPED + number}", seed)
    for number, (first, case) in enumerate(itertools.product(_rounds(work), light)):
        yield Combination(case, f"{recipes.WORD} {first + number}", seed)


def _rounds(work: Work) -> Iterator[int]:
    """Return where recipes begin that all cases are asked with, one after the other."""
    few = piles.few_digits(work)
    kinds = [recipes.FUZZED, recipes.CROSSED] if recipes.usable(work) and not few else []
    if near_ends.usable(work) and not few:
        kinds.insert(0, recipes.NEAR_ENDS)
    return itertools.islice(itertools.cycle(kinds), ROUNDS)


def together(work: Work, text: str = "") -> list[dict[str, float]]:
    """Return cases with a size and all bounds, or two sizes, as large as they may be, others small.

    And behind them each size by itself, of a few of them even where that is many elements: what a
    block counts of millions of pixels runs over 16 bits only where so many of them are alike.

    Where one of them ends the other shows nothing: of sixteen times as many rolls the first ten
    frames are scored. Chance draws such a pair now and then.
    """
    # What is small, as ten frames, is large with a size that is.
    text, bounds = far_and_full.bounds(work, text, FLAG) if text else ("", [])
    sizing = sizes.sizing(work)
    pairs = [[name, *bounds] for name in sizing] if bounds else itertools.combinations(sizing, 2)
    alone = [[name] for name in sizing]
    found: list[dict[str, float]] = []
    few = 0
    for far in [*pairs, *alone][: TOGETHER if CASES else 0]:
        case = _smallest(work, far, sizing, MOST_ELEMENTS)
        if case is None and far in alone and few < MORE:
            case = _smallest(work, far, sizing, MOST_ALONE)
            few += case is not None
        if case is None or case in found:
            continue
        if not bounds or far_scalars.fits(work, text, case, bounds):
            found.append(case)
    return found


def _smallest(
    work: Work, far: Sequence[str], sizing: Sequence[str], most: int
) -> dict[str, float] | None:
    """Return the case with some variables far out that has few of all else; None for none.

    Of no more than `most` elements.

    An odd number beside the end, and of others as few as they may be, a single one where they
    would be too many.
    """
    least = min((case.values for case in work.cases), key=lambda case: sizes.elements(work, case))
    for few in (float(max(SMALL_ONES)), float(SMALL_ONES[2]), 1.0):
        case = {**least, **{one: min(few, sizes.largest(work, one)) for one in sizing}}
        # What sizes nothing, as a radius, is at its end: tiles have room for that, or nearly so.
        case |= {
            one: sizes.TIMES_LONGER * sizes.largest(work, one) - (one in sizing) for one in far
        }
        if 0 < sizes.elements(work, case) <= most:
            return sizes.promised(work, case)
    return None


def cases(work: Work, seed: int, text: str = "") -> list[dict[str, float]]:
    """Return cases that are large along a size or two, each once.

    `text` is the original's: what sizes no buffer is far out where products by it still fit there.
    """
    text, bounds = far_and_full.bounds(work, text) if text else ("", [])
    sizing = [name for name in sizes.sizing(work) if sizes.largest(work, name) > sizes.SMALL]
    found = _all(work, [*sizing, *bounds], stream(seed, "far cases"))
    if not bounds:
        return found
    return [case for case in found if far_scalars.fits(work, text, case, bounds)]


def _all(work: Work, wide: Sequence[str], rng: np.random.Generator) -> list[dict[str, float]]:
    found: list[dict[str, float]] = []
    for turn in range(3 * CASES if wide else 0):
        first = wide[turn % len(wide)]
        more = [name for name in wide if name != first and rng.random() < TWO]
        case = _drawn(work, [first, *more[:1]], wide, rng, MOST_ELEMENTS)
        if case is not None and case not in found:
            found.append(case)
        if len(found) == CASES:
            break
    near = [name for name in wide if _times(work, name, found) < FAR]
    for turn in range(MORE if near and CASES else 0):
        case = _drawn(work, [near[turn % len(near)]], wide, rng, MOST_OF_FEW)
        if case is not None and case not in found:
            # Ahead of most: it takes longer, and there may be no time for all of them.
            found.insert(AHEAD + turn, case)
    return found


def _times(work: Work, name: str, found: Sequence[Case]) -> float:
    """Return how many times as large as declared a size is in some cases."""
    return max((case[name] for case in found), default=0.0) / sizes.largest(work, name)


def _drawn(
    work: Work, far: Sequence[str], wide: Sequence[str], rng: np.random.Generator, most: int
) -> dict[str, float] | None:
    every = [dict(case.values) for case in work.cases]
    case = every[int(rng.integers(len(every)))]
    for name in wide:
        declared = sizes.largest(work, name)
        if name in far:
            power = 1.0 if rng.random() < FARTHEST else rng.random()
            farthest = int(declared * sizes.TIMES_LONGER**power)
            case[name] = float(max(1, farthest - int(rng.integers(3))))
        elif rng.random() < TWO:
            case[name] = float(rng.choice([one for one in SMALL_ONES if one <= declared]))
    for name in (*(one for one in wide if one not in far), *far[1:], far[0]):
        if 0 < sizes.elements(work, case) <= most:
            break
        top = int(case[name]) if name in far else min(int(case[name]), int(max(SMALL_ONES)))
        case[name] = float(max(1, fitting(work, case, name, top, most)))
    case = sizes.promised(work, case)
    fits = LEAST_ELEMENTS <= sizes.elements(work, case) <= most
    return case if fits else None
