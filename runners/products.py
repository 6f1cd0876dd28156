"""Sizes at which a product of sizes, or a whole buffer, is beyond a number of a candidate's own.

`h * w > 2000000` chooses another way, and a table of 1024 numbers is full, whatever the two sides
are: no side alone comes to such a number. Each declared case is made larger or smaller in all of
its sides by one factor, so that it stays what it is, until it is on the other side of the number.
What is compared, or gives an array its size, comes first; then what is nearest to the declared.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from runners import gates, sizes
from runners.expressions import ExpressionError, evaluate, variables_of
from runners.families import captured_work
from runners.gpu import LaunchError
from runners.launch_limits import SHARED_BYTES, fails
from runners.launchable import geometry
from runners.sizes import TIMES_LONGER
from runners.spec import JobSpec, Launch, Work

# Cases of a candidate, and of those the ones by numbers that are not compared.
MOST_CASES, MOST_OTHERS = 4, 2
# Ranks: compared and its own; what is reached, but by no case like a declared one, and least sides;
# then others, which are not compared, or not by the original.
NOWHERE, ELSEWHERE, OTHER, ALSO = range(4)
# Elements of one case; where a declared one is large, so many times as many, up to the other; and
# of all of them. What has more than `LIGHT` has no more than `TIMES_LONGER` times the declared:
# nobody knows how long the original takes there.
MOST_ELEMENTS, TIMES_DECLARED, MOST_DECLARED = 1 << 23, 8, 1 << 24
MOST_TOGETHER, MOST_OTHER, LIGHT = 1 << 24, 1 << 22, 1 << 20
# How many times the declared a product may be, of which each side is no more than `TIMES_LONGER`.
FARTHEST = 256
# Numbers below are sides of tiles, blocks and warps; so many are looked at; variables of a product.
LEAST, MOST_NUMBERS, MOST_SIDES = 64, 40, 6
# What a number may count that is compared, and is no such part itself: vectors, warps, blocks.
PARTS, LARGEST_PART = (4, 32, 256), 1024
# What no size is divided by for being counted in elements; a product that is less is tried anyway.
LEAST_PRODUCT = 32
# Sides that have grown so much more than others are no longer what was declared.
MOST_LOPSIDED = 8.0
# A way between two numbers is one's own where they are so far apart.
LEAST_BETWEEN = 1.5
# What differs by this is about as near to a number, and is reached by one case; parts of a
# logarithm that are about the same.
LITTLE, ABOUT = 1.5, 2
# A side stays a multiple of what it is a multiple of, up to this, and by steps of no more than so
# small a part of it. Factors differ by so small a part of a doubling.
MOST_STEP, LEAST_PARTS, PER_DOUBLING = 256, 16, 128

Case = Mapping[str, float]


@dataclass(frozen=True)
class _Measure:
    """Something that grows with some variables."""

    sides: tuple[str, ...]
    of: Callable[[Case], int]
    least: bool = False  # the least of its sides: where several are asked for at a time


@dataclass(frozen=True, eq=False)
class _Wanted:
    """A measure that is to be more than one number and not more than another one."""

    rank: tuple[float, ...]
    measure: int
    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Tell whether a measure has such a value."""
        return self.low < value <= self.high


def beyond(job: JobSpec, asked: Sequence[Case]) -> list[dict[str, float]]:
    """Return cases in which something that grows is where none of those that are asked about is.

    Never raises for what a text or a launch says; a few cases at most, within `MOST_TOGETHER`.
    """
    work = job.work
    if captured_work(work) or job.kernel == job.baseline or not sizes.sizing(work):
        return []
    search = _Search(job, asked)
    search.take_all()
    return search.found


def most_elements(work: Work) -> int:
    """Return how many elements a case may have beside what is declared."""
    most = max(sizes.elements(work, case.values) for case in work.cases)
    allowed = max(MOST_ELEMENTS, min(TIMES_DECLARED * most, MOST_DECLARED))
    return min(allowed, max(LIGHT, TIMES_LONGER * most))


class _Search:
    """The cases that are known of one job, and what they do not reach."""

    def __init__(self, job: JobSpec, asked: Sequence[Case]) -> None:
        self.job, self.work = job, job.work
        self.found: list[dict[str, float]] = []
        self.taken: list[_Wanted] = []
        self._known = [dict(one) for one in asked]
        self._declared = [one.values for one in self.work.cases]
        self._sides = sizes.sizing(self.work)[:MOST_SIDES]
        self._most = most_elements(self.work)
        self._elements = 0
        self._measures, self._values = self._distinct()
        self._balanced = [self._like_declared(case) for case in self._known]
        self.wanted = sorted(self._each_wanted(), key=lambda one: one.rank)
        self._same: dict[tuple[float, float], list[_Wanted]] = {}  # what is wanted of one range
        for one in self.wanted:
            self._same.setdefault((one.low, one.high), []).append(one)

    def _distinct(self) -> tuple[list[_Measure], list[list[int]]]:
        """Return measures that are not the same in all cases, and their values there."""
        found: dict[tuple[int, ...], _Measure] = {}
        every = [*self._declared, *self._known]
        for measure in _measures(self.job, self._sides):
            found.setdefault(tuple(measure.of(case) for case in every), measure)
        since = len(self._declared)
        return list(found.values()), [list(values[since:]) for values in found]

    def _like_declared(self, case: Case) -> bool:
        """Tell whether all sides are about as many times as long as in one declared case."""
        for declared in self._declared:
            times = [case.get(k, 0.0) / declared[k] for k in self._sides if declared.get(k)]
            if times and min(times) > 0 and max(times) <= MOST_LOPSIDED * min(times):
                return True
        return False

    def _each_wanted(self) -> Iterator[_Wanted]:
        """Yield what no case reaches, or none that is like a declared one."""
        mine, theirs = _numbers(self.job)
        own = mine.every - theirs.every
        compared = mine.compared - theirs.compared
        units = sorted({1, *(a.type.size for a in self.work.arguments if a.type.pointer)})
        for at, measure in enumerate(self._measures):
            declared = [measure.of(case) for case in self._declared]
            if max(declared) < 1:
                continue
            for unit in units if measure.sides and not measure.least else [1]:
                numbers = _some(compared & own, unit)
                # Two sides that are each longer than a tile.
                numbers = [one for one in numbers if one > LARGEST_PART * measure.least]
                yield from self._at(at, declared, numbers, NOWHERE, plain=unit == 1)
                yield from self._at(at, declared, _some(own - compared, unit), OTHER)
            many = [one for one in _some(compared & own, 1) if one > LARGEST_PART]
            parts = sorted({one * by for one in many for by in PARTS}) if measure.sides else []
            yield from self._at(at, declared, parts, OTHER)
            both = [one for one in _some(mine.compared - compared, 1) if one > LARGEST_PART]
            yield from self._at(at, declared, _some(compared - own, 1) + both, ALSO)

    def _at(
        self, at: int, declared: list[int], numbers: list[int], kind: int, *, plain: bool = False
    ) -> Iterator[_Wanted]:
        """Yield what is wanted of one measure for numbers, `plain` where they count elements."""
        ways = len(self._measures[at].sides)
        for low, high in _ranges(numbers, between=plain):
            one = _Wanted((), at, low, high)
            if any(map(one.holds, declared)):
                continue
            there = [one.holds(value) for value in self._values[at]]
            like = any(yes and same for yes, same in zip(there, self._balanced, strict=True))
            if like or (any(there) and (ways < 2 or not plain)):
                continue
            far = min(_apart(value, low, high) for value in declared)
            # Of what is about as near two sides come first, and one last.
            near = round((far + (not plain) + (ways > 2)) * ABOUT)
            rank = max(kind, ELSEWHERE) if any(there) or self._measures[at].least else kind
            yield _Wanted((rank, near, ways < 2, ways, far), at, low, high)

    def take_all(self) -> None:
        """Take the cases that are wanted most, and where few are, others with odd sides."""
        others = 0
        for one in self.wanted:
            if len(self.found) == MOST_CASES:
                break
            other = one.rank[0] >= OTHER
            if (other and others == MOST_OTHERS) or self.there(one):
                continue
            if self.take(one):
                others += other
                if len(self.found) == 1:
                    self._odd(one)
        for one in [one for one in self.taken if one is not self.taken[0]]:
            if len(self.found) < MOST_CASES:
                self._odd(one)

    def _odd(self, one: _Wanted) -> None:
        """Take what is above a number with sides that nothing divides, too, if it is not large."""
        case = self.found[self.taken.index(one)]
        above = one.rank[0] == NOWHERE and math.isinf(one.high)
        if above and sizes.elements(self.work, case) <= MOST_OTHER:
            self.take(one, whole=False)

    def there(self, one: _Wanted) -> bool:
        """Tell whether a case that was taken reaches this, too."""
        return any(one.holds(self._measures[one.measure].of(case)) for case in self.found)

    def take(self, one: _Wanted, *, whole: bool = True) -> bool:
        """Take a case that reaches something, if one is within all limits; tell whether it is."""
        measure = self._measures[one.measure]
        near = sorted(self._declared, key=lambda case: _apart(measure.of(case), one.low, one.high))
        ways = [measure.sides, *((side,) for side in measure.sides if len(measure.sides) > 1)]
        tried = list(itertools.product(ways, near))
        if _apart(measure.of(near[0]), one.low, one.high) <= math.log(TIMES_LONGER):
            # Where that is too much, all else is as in the smallest case.
            least = min(self._declared, key=lambda case: sizes.elements(self.work, case))
            kept = [{**least, **{k: case[k] for k in measure.sides if k in case}} for case in near]
            tried += itertools.product(ways[:1], kept)
        for sides, base in tried:
            case = self._scaled(one, base, sides, whole=whole)
            if case is not None and self._fits(case, one):
                self.found.append(case)
                self._known.append(case)
                self.taken.append(one)
                self._elements += sizes.elements(self.work, case)
                return True
        return False

    def _scaled(
        self, one: _Wanted, base: Case, sides: Sequence[str], *, whole: bool
    ) -> dict[str, float] | None:
        """Return a case in which some sides are that much larger or smaller; None if none is."""
        value = self._measures[one.measure].of(base)
        if not sides or value < 1 or any(base.get(k, 0.0) < 1 for k in sides):
            return None
        up = value <= one.low

        def case(turns: int) -> dict[str, float]:
            factor = 2.0 ** ((turns if up else -turns) / PER_DOUBLING)
            return {**base, **{k: _times(base[k], factor, up=up, whole=whole) for k in sides}}

        def reached(turns: int, other: _Wanted = one) -> bool:
            value = self._measures[other.measure].of(case(turns))
            return value > other.low if up else value <= other.high

        most = TIMES_LONGER if up and len(sides) > 1 else FARTHEST if up else max(base.values())
        turns = int(math.log2(max(2.0, most)) * PER_DOUBLING) + 1
        if not reached(turns):
            return None
        turns = sizes.least_above(0, turns, reached)
        # What is about the same, as pixels are threads, is to be reached, too.
        further = turns + PER_DOUBLING // 2
        for other in self._same[one.low, one.high]:
            near = self._measures[other.measure].of(base) <= value * LITTLE
            if near and not reached(turns, other) and reached(further, other):
                turns = sizes.least_above(turns, further, partial(reached, other=other))
        return case(turns)

    def _fits(self, case: dict[str, float], one: _Wanted) -> bool:
        """Tell whether a case is new, as large as it may be, and not where a launch fails."""
        work, measure = self.work, self._measures[one.measure]
        weight = sizes.elements(work, case)
        most = min(self._most, MOST_OTHER) if one.rank[0] >= OTHER else self._most
        if case in self._known or not 0 < weight <= most or min(case.values()) < 0:
            return False
        if self.found and self._elements + weight > MOST_TOGETHER:
            return False
        if any(case.get(k, 0) > TIMES_LONGER * sizes.largest(work, k) for k in measure.sides):
            return False
        if any(a.elements(case) == 0 for a in work.arguments if a.type.pointer):
            return False
        value = measure.of(case)
        declared = max(measure.of(other) for other in self._declared)
        if not one.holds(value) or value > FARTHEST * declared:
            return False
        if work.launch is not None and fails(work.launch, case, SHARED_BYTES):
            return False
        # What fails to be launched that far beyond is a limit.
        mine = self.job.kernel.launch
        far = mine is not None and value > TIMES_LONGER * declared
        return not (far and mine is not None and fails(mine, case, SHARED_BYTES))


def _measures(job: JobSpec, sides: Sequence[str]) -> Iterator[_Measure]:
    """Yield what may be compared with a number: products, buffers, what a launch has."""
    work = job.work
    for argument in (a for a in work.arguments if a.type.pointer):
        used = tuple(k for k in sides if k in variables_of(argument.shape or "1"))
        yield _Measure(used, partial(_value, argument.shape or "1"))
    for many in (2, 3, 1):
        for some in itertools.combinations(sides, many):
            yield _Measure(some, partial(_product, some))
    for some in itertools.combinations(sides, 2):
        yield _Measure(some, partial(_least, some), least=True)
    launch = job.kernel.launch or work.launch
    if launch is not None and work.kind == "kernel":
        ways = [(partial(_way, at), (text,)) for at, text in enumerate(launch.grid[:3])]
        for what, texts in (
            (_blocks, launch.grid),
            (_threads, (*launch.grid, *launch.block)),
            *(ways if len(ways) > 1 else ()),
            (_shared, (launch.shared,)),
        ):
            used = tuple(k for k in sides if any(k in variables_of(text) for text in texts))
            yield _Measure(used, partial(_launched, launch, what))


def _value(text: str, case: Case) -> int:
    try:
        return int(evaluate(text, case))
    except ExpressionError:
        return -1


def _product(some: Sequence[str], case: Case) -> int:
    return int(math.prod(case.get(k, 0.0) for k in some))


def _least(some: Sequence[str], case: Case) -> int:
    return int(min(case.get(k, 0.0) for k in some))


_Geometry = tuple[tuple[int, int, int], tuple[int, int, int], int]


def _way(at: int, one: _Geometry) -> int:
    return one[0][at]


def _blocks(one: _Geometry) -> int:
    return math.prod(one[0])


def _threads(one: _Geometry) -> int:
    return math.prod(one[0]) * math.prod(one[1])


def _shared(one: _Geometry) -> int:
    return one[2]


def _launched(launch: Launch, what: Callable[[_Geometry], int], case: Case) -> int:
    try:
        return what(geometry(launch, case))
    except (LaunchError, ExpressionError, ValueError):
        return -1


def _numbers(job: JobSpec) -> tuple[gates.Numbers, gates.Numbers]:
    """Return the numbers of a candidate and of its original, those of their launches among them."""
    found = []
    for source in (job.kernel, job.baseline):
        launch = source.launch or job.work.launch
        words = () if launch is None else (*launch.grid, *launch.block, launch.shared)
        text, said = gates.numbers(source.source), gates.numbers(";".join(words))
        found.append(gates.Numbers(text.every | said.every, text.compared))
    return found[0], found[1]


def _some(found: frozenset[int], unit: int) -> list[int]:
    """Return numbers in units of so many bytes, ascending; the largest of too many."""
    fit = sorted(one for one in found if one >= LEAST * unit)[-MOST_NUMBERS:]
    return sorted({one // unit for one in fit if one // unit >= LEAST_PRODUCT})


def _ranges(numbers: list[int], *, between: bool) -> Iterator[tuple[float, float]]:
    """Yield below and above each number, and where asked for between two neighbours."""
    for number in numbers:
        yield number, math.inf
        yield 0, number
    for low, high in itertools.pairwise(numbers) if between else ():
        if high >= LEAST_BETWEEN * low:
            yield low, high


def _apart(value: float, low: float, high: float) -> float:
    """Return how many times a value is outside a range, as a logarithm."""
    if value < 1:
        return math.inf
    if value > high:
        return math.log(value / max(1.0, high))
    return math.log(max(1.0, low) / value) if value <= low else 0.0


def _times(size: float, factor: float, *, up: bool, whole: bool) -> float:
    """Return a size so many times as large, a multiple of what it is one of if it is `whole`."""
    low = int(size) & -int(size)
    step = min(MOST_STEP, low)
    while step > 1 and (not whole or step * LEAST_PARTS > size):
        step //= 2
    wanted = math.ceil(size * factor / step) if up else math.floor(size * factor / step)
    odd = not whole and wanted > LEAST_PARTS
    wanted = (wanted - (not up)) | 1 if odd else wanted
    return max(size, float(wanted * step)) if up else max(1.0, min(size, float(wanted * step)))
