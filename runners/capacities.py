"""Sizes beyond what hand-made kernels have room for, while the original is quick there.

What keeps a row in the threads of a block, in registers or in shared memory, or its places in a
few bits, holds so much and no more. Its launch fails beyond, or it writes past the end, or the
first elements come again: where no declared size is as long, nothing else shows it. And what
counts in few bits what meets in one place runs over where more meet there than ever did.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping

from runners import (
    one_element,
    recipes,
    scalar_ends,
    sizes,
    whole_numbers,
    whole_scalars,
    wider,
)
from runners.contents import Combination
from runners.families import (
    ALIKE,
    AT_STRIDES,
    DECLARED,
    DENSITIES,
    DERIVATIONS,
    EARLY,
    EQUAL,
    FAR_ENDS,
    FOLLOWING,
    FREQUENT,
    FULL_ENDS,
    FULL_PILES,
    GOING_ROUND,
    ISOLATED,
    LONG_CHAINS,
    LONGEST,
    MOSTLY,
    NEARLY_PILES,
    NESTED,
    OPPOSITE,
    OPPOSITE_ROWS,
    PILED,
    PILES,
    PLAIN,
    RECURRING,
    ROUND_ACROSS,
    SAME,
    SWINGS,
    TWINS,
    UNLIKE,
    drawn,
)
from runners.spec import LASTING, MOVED, Work

# Elements of all buffers there.
MOST_ELEMENTS = 1 << 21
# What one run of the original may take there, as far as the lengths before tell: too much where one
# of these was held up, so that a few of plain inputs may take longer.
MOST_SECONDS, LONG_SECONDS, ALL_LONG_SECONDS = 0.3, 2.0, 3.0
# What all contents with a single change may take together, from the first of them on, and what all
# wider ranges may: contents may be how often something is done.
SINGLE_SECONDS = WIDER_SECONDS = 3.0
# What all recipes may take together, and all of some families: each step may be a round there.
RECIPE_SECONDS, CHAIN_SECONDS, DERIVATION_SECONDS = 6.0, 4.0, 2.0
# How a time grows with the product of sizes that are larger together: not all are multiplied.
PRODUCT_POWER = 2 / 3
# And where all sizes of an array are: between each element once and each pair of them.
TOGETHER_POWER = 1.5
# How a time grows with a length: no slower than in proportion, and where one time is known alone.
LEAST_POWER, USUAL_POWER, MOST_POWER = 1.0, 2.0, 3.0
# The length at which all elements are alike, its variables, and the elements of all buffers there.
TIMES_CROWDED, MOST_CROWDED_NAMES, MOST_CROWDED = 4, 3, 1 << 22
# What a counter of 8 and one of 16 bits do not hold; so little more that others are counted
# oftener than what is left in it.
BYTE, SHORT, LITTLE_MORE = 1 << 8, 1 << 16, 16
# From a length at most so many times shorter it is told what a run takes, by family: of shorter
# runs all but nothing is the launch's.
FARTHEST = {
    **dict.fromkeys((PLAIN, NESTED, LONGEST, OPPOSITE, OPPOSITE_ROWS, LONG_CHAINS), 64),
    **dict.fromkeys((ALIKE, PILED), 16),
    **dict.fromkeys(
        (GOING_ROUND, ROUND_ACROSS, EARLY, SWINGS, AT_STRIDES, DERIVATIONS), sizes.TIMES_LONGER
    ),
}
# Families of which the times of one tell those of the other.
_KINDS = {
    PLAIN: PLAIN,
    ALIKE: ALIKE,
    MOSTLY: ALIKE,
    EQUAL: ALIKE,
    SAME: ALIKE,
    UNLIKE: ALIKE,
    NESTED: NESTED,
    LONGEST: LONGEST,
    OPPOSITE: OPPOSITE,
    FAR_ENDS: OPPOSITE,
    OPPOSITE_ROWS: OPPOSITE_ROWS,
    **dict.fromkeys((FULL_ENDS, DENSITIES, FULL_PILES, RECURRING, TWINS, FREQUENT), ALIKE),
    **dict.fromkeys(PILES | NEARLY_PILES, PILED),
    LONG_CHAINS: LONG_CHAINS,
    DERIVATIONS: DERIVATIONS,
    GOING_ROUND: GOING_ROUND,
    ROUND_ACROSS: ROUND_ACROSS,
    SWINGS: SWINGS,
    AT_STRIDES: AT_STRIDES,
    ISOLATED: ISOLATED,
    EARLY: EARLY,
}
ASKED = frozenset(_KINDS) - {EQUAL}  # which is asked anyway, and tells of those like it
# Families that may take longer, of the longest cases there are; and how many times as long what is
# near an end may take as what is drawn, where no shorter case tells: so many times as much meets.
LONG = frozenset({LONGEST, OPPOSITE})
TIMES_DRAWN, DRAWN = 16, frozenset({DECLARED, LONGEST})
LONGER = "a longer one is asked"
SHORTER = "the original does not do a shorter one, or one that is like it"

Case = Mapping[str, float]


def beyond(work: Work) -> list[dict[str, float]]:
    """Return cases in which one variable is longer than what kernels have room for.

    For each variable that sizes a buffer, shorter ones first, the others alike and small: what is
    too slow or too large for the original at one length is not asked of it at the next.
    """
    found: list[dict[str, float]] = []
    for name in sizes.sizing(work)[: sizes.MOST_LONG]:
        lengths = sizes.capacities(sizes.largest(work, name))
        lines: list[list[dict[str, float]]] = []
        for others in sizes.few_others(work, name):
            line = [{**others, name: float(length)} for length in lengths]
            lines.append([one for one in line if 0 < sizes.elements(work, one) <= MOST_ELEMENTS])
        longest: list[dict[str, float]] = max(lines, key=len)
        found += longest
    return found


def crowded(work: Work) -> list[dict[str, float]]:
    """Return cases with four times as many elements in one direction, which may all be alike.

    For each variable that sizes a buffer and is no stride or radius. The others are as large as
    they are declared, so that there is as much to be counted; smaller where that is too much.
    Rows that are as long are in `beyond`, too: nothing is asked of them that has no room for them.
    """
    return _long(work, sizes.sizing(work), lambda value: TIMES_CROWDED * value + 1)


def mostly(work: Work) -> list[dict[str, float]]:
    """Return cases with longer rows of whole numbers, most of which may be one value.

    So long that a counter of 16 bits runs over, and no longer, where that is no more than so many
    times the declared that it has to be right; else four times as long, or where that is longer so
    long that a counter of 8 bits does.
    """

    def length(value: int) -> int:
        over, least, long = room_for(SHORT), room_for(BYTE), TIMES_CROWDED * value + 1
        if over <= sizes.TIMES_LONGER * value:
            return over
        return max(long, least) if least <= sizes.TIMES_LONGER * value else long

    return _long(work, lengthening(work), length)


def longer_rows(work: Work) -> list[dict[str, float]]:
    """Return cases with rows of whole numbers four times as long as declared."""
    return _long(work, lengthening(work), lambda value: TIMES_CROWDED * value + 1)


def lengthening(work: Work) -> list[str]:
    """Return the variables by which rows of random whole numbers get longer."""
    first = max(work.cases, key=lambda case: sizes.elements(work, case.values)).values

    def rows(case: Case) -> list[list[int]]:
        return [whole_numbers.row_lengths(one.shape or "1", case) for one in drawn(work)]

    return [
        name
        for name in sizes.sizing(work)
        if rows(first) != rows({**first, name: first.get(name, 0.0) + 1})
    ]


def room_for(number: int) -> int:
    """Return the length of a row most of which is one value, a little oftener than a number."""
    length = whole_numbers.OF * (number + LITTLE_MORE) // (whole_numbers.OF - 1)
    return length | 1


def _long(work: Work, names: list[str], length: Callable[[int], int]) -> list[dict[str, float]]:
    """Return a case for each of some variables, with that variable of a length of its largest."""
    found: list[dict[str, float]] = []
    for name in names:
        value = sizes.largest(work, name)
        if value <= sizes.SMALL or len(found) == MOST_CROWDED_NAMES:
            continue
        one = longest_others(work, name, length(int(value)))
        found += [one] if one is not None and one not in found else []
    return found


def longest_others(work: Work, name: str, length: int) -> dict[str, float] | None:
    """Return a case with a variable of that length, the others as large as they may be."""
    every = sorted(work.cases, key=lambda case: sizes.elements(work, case.values))
    others = [dict(case.values) for case in reversed(every)]
    tried = ({**one, name: float(length)} for one in (*others, *sizes.few_others(work, name)))
    return next((one for one in tried if 0 < sizes.elements(work, one) <= MOST_CROWDED), None)


def _kind(family: str) -> str:
    """Return by which name a family's times are kept; nothing where they are not."""
    first = family.partition(" ")[0]
    return first if first in {DECLARED, scalar_ends.SCALAR_ENDS} else _KINDS.get(first, "")


def _asked(family: str) -> bool:
    """Tell whether a family is asked only where the original is likely to be quick."""
    return family.partition(" ")[0] in ASKED


def _would_take(seconds: float) -> str:
    """Say why a run is not made; `inf` where nothing tells how long it would be.

    >>> _would_take(2.34), _would_take(math.inf)
    ('the original would take 2.3 s', 'nothing tells what the original would take')
    """
    if seconds == math.inf:
        return "nothing tells what the original would take"
    return f"the original would take {seconds:.1f} s"


def _no_less(case: Case, than: Case) -> bool:
    """Tell whether no variable of a case is smaller than in another one."""
    return case.keys() == than.keys() and all(case[name] >= than[name] for name in case)


def longer(case: Case, than: Case) -> bool:
    """Tell whether a case is another with one variable longer."""
    if case.keys() != than.keys():
        return False
    apart = [name for name in case if case[name] != than[name]]
    return len(apart) == 1 and case[apart[0]] > than[apart[0]]


def hopeless(combination: Combination, dropped: Iterable[Combination]) -> bool:
    """Tell whether the original already failed on a shorter one, or with scalars as these are.

    An original that goes on until an error is below a bound never comes to an end with a smaller
    one: once is enough. So it is where another value of a scalar was too much for it, or of one of
    an array's elements, or a narrower range of an array than this one.
    """
    many = combination.case.get(MOVED, 0.0)
    if whole_scalars.moved(many):
        return any(whole_scalars.alike(many, other.case.get(MOVED, 0.0)) for other in dropped)
    if many == LASTING:
        return any(other.case.get(MOVED) == LASTING for other in dropped)
    if (mine := one_element.change(combination.family)) is not None:
        others = (one_element.change(other.family) for other in dropped)
        return any(other is not None and other.name == mine.name for other in others)
    if wider.wider(combination.family) is not None:
        same = (other for other in dropped if other.case == combination.case)
        return any(wider.beyond(combination.family, other.family) for other in same)
    if name := scalar_ends.scalar(combination.family):
        # The first one is the scalar far out alone, and what is too much then is so beside others.
        return any(scalar_ends.scalar(other.family) == name for other in dropped)
    if _kind(combination.family) == ISOLATED:
        alone = (other.case for other in dropped if _kind(other.family) == ISOLATED)
        return any(_no_less(combination.case, case) for case in alone)
    kind = _kind(combination.family)
    return _asked(combination.family) and any(
        _kind(other.family) == kind and longer(combination.case, other.case) for other in dropped
    )


class Watch:
    """What the original took at such lengths, and where it failed."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}
        self._took: list[tuple[str, Case, float]] = []
        self._left = ALL_LONG_SECONDS
        self._failed: list[Combination] = []

    def took(self, combination: Combination, seconds: float) -> None:
        """Note what a run took."""
        if kind := _kind(combination.family):
            self._took.append((kind, combination.case, seconds))

    def failed(self, combination: Combination) -> None:
        """Note that there is no answer."""
        self._failed.append(combination)

    def objection(self, combination: Combination) -> str:
        """Say why a combination is not asked about; nothing where it is."""
        if hopeless(combination, self._failed):
            return SHORTER
        together = (
            ("this of many", one_element.change(combination.family), SINGLE_SECONDS),
            ("this range", wider.wider(combination.family), WIDER_SECONDS),
            ("this recipe", recipes.number(combination.family), RECIPE_SECONDS),
        )
        for kind, one, seconds in together:
            if one is not None:
                return self._late(kind, seconds)
        if (told := self._told(combination)) is not None:
            seconds, most = told
            return _would_take(seconds) if seconds > most else ""
        if not _asked(combination.family):
            return ""
        kind = _kind(combination.family)
        limit = {LONG_CHAINS: CHAIN_SECONDS, DERIVATIONS: DERIVATION_SECONDS}.get(kind)
        if limit is not None and (late := self._late(kind, limit)):
            return late
        if kind in LONG and self._longer_is_known(kind, combination.case):
            return LONGER
        seconds = self._expected(combination)
        if seconds <= MOST_SECONDS and kind not in LONG:
            return ""
        if combination.family == PLAIN and seconds <= min(LONG_SECONDS, self._left):
            self._left -= seconds
            return ""
        if kind in LONG and seconds <= LONG_SECONDS:
            return ""
        return _would_take(seconds)

    def _late(self, kind: str, seconds: float) -> str:
        """Say that all of a kind have had their seconds, from the first of them on."""
        now = self._clock()
        until = self._until.setdefault(kind, now + seconds)
        return f"there was no time left for {kind}" if now > until else ""

    def _told(self, combination: Combination) -> tuple[float, float] | None:
        """Return what a run may take, and what it may take at most, where others all tell of it."""
        family, case = combination.family, combination.case
        if family == FOLLOWING:
            return self._in_proportion(case), LONG_SECONDS
        if _kind(family) == ISOLATED:
            return self._together(case), MOST_SECONDS
        if scalar_ends.scalar(family):
            return self._by_like(case, (DECLARED, scalar_ends.SCALAR_ENDS)), MOST_SECONDS
        return None

    def _expected(self, combination: Combination) -> float:
        """Return what a run is likely to take, from the two longest of the lengths before.

        It is no more than any length before lets it be: one that was held up tells too much.
        """
        case, family = combination.case, _kind(combination.family)
        known = [
            (other, seconds)
            for kind, other, seconds in self._took
            if kind == family and longer(case, other) and _times(case, other) <= FARTHEST[family]
        ]
        if not known:
            return self._untold(combination)
        *before, (last, seconds) = known
        power = USUAL_POWER
        if before and longer(last, before[-1][0]):
            earlier, less = before[-1]
            power = math.log(max(seconds, 1e-6) / max(less, 1e-6)) / math.log(_times(last, earlier))
            power = min(MOST_POWER, max(LEAST_POWER, power))
        bounds = (took * _times(case, shorter) ** MOST_POWER for shorter, took in before)
        return float(min(seconds * _times(case, last) ** power, *bounds, math.inf))

    def _longer_is_known(self, kind: str, case: Case) -> bool:
        return any(known == kind and longer(other, case) for known, other, _ in self._took)

    def _untold(self, combination: Combination) -> float:
        """Return what a run may take of which no shorter one of its kind tells.

        Of those as far out as is asked, by what is drawn of the same variables; of arrays at
        opposite ends by that as long, or where there is none by whatever is like it.
        """
        case = combination.case
        if _kind(combination.family) == OPPOSITE:
            there = [(kind, took) for kind, other, took in self._took if other == case]
            far = [TIMES_DRAWN * took for kind, took in there if kind in DRAWN]
            own = [took for kind, took in there if kind == OPPOSITE]
            if own or far:
                return max(own) if own else min(far)
            return min(self._by_like(case, (OPPOSITE,)), TIMES_DRAWN * self._by_like(case, DRAWN))
        if combination.family != LONGEST:
            return 0.0
        return self._by_like(case, DRAWN)

    def _together(self, case: Case) -> float:
        """Return what a run may take in which several sizes are larger, by like contents if any."""
        own = self._by_like(case, (ISOLATED,), TOGETHER_POWER)
        return own if own < math.inf else self._by_like(case, (DECLARED, PLAIN), TOGETHER_POWER)

    def _by_like(self, case: Case, kinds: Collection[str], power: float = USUAL_POWER) -> float:
        """Return what a run may take at most, by others of the same variables of some kinds.

        As if it grew with a power of each variable that is larger, all of them multiplied, and
        were no quicker where one is smaller.
        """
        return min(
            (
                seconds
                * math.prod(max(1.0, case[name] / other[name]) for name in case if case[name])
                ** power
                for kind, other, seconds in self._took
                if kind in kinds
                and other.keys() == case.keys()
                and all(other[name] > 0 or case[name] == other[name] for name in case)
            ),
            default=math.inf,
        )

    def _in_proportion(self, case: Case) -> float:
        """Return what a run is likely to take in which several sizes are larger.

        By each declared input that was smaller in every way; zero where none was.
        """
        smaller = (
            seconds
            * math.prod(case[name] / other[name] for name in case if other[name]) ** PRODUCT_POWER
            for kind, other, seconds in self._took
            if kind == DECLARED
            and other.keys() == case.keys()
            and all(0 < other[name] <= case[name] or other[name] == case[name] for name in case)
        )
        return min(smaller, default=0.0)


def _times(case: Case, than: Case) -> float:
    return max(case[name] / than[name] for name in case if case[name] != than[name])
