"""Cases near others in which a condition may be another: one variable changed, two, or all.

Nothing here knows what may be asked. It yields cases with what they are made of, the likely ones
first, and takes a bounded number of looks.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from runners import sizes
from runners.conditions import GEOMETRY, Condition
from runners.expressions import ExpressionError, names
from runners.gpu import LaunchError
from runners.launchable import geometry
from runners.spec import MOVED, Argument, Launch, scalar_values
from runners.terms import Number

# Neighbours of a size, more where a remainder is asked for, and how many numbers are looked at.
NEIGHBOURS, MOST_NEIGHBOURS, MOST_NUMBERS, MOST_GAPS = 8, 1100, 8, 3
# Powers of two that two sizes are changed by.
POWERS = (-7, -5, -3, -2, -1, 1, 2, 3, 4)
# Cases in which each variable is drawn by itself, and of the first those of which one is changed
# further, to where the sides of a condition meet.
DRAWN, MET = 400, 40
# Sizes that are changed for another case near one, and what they are made multiples of.
MOST_TWINS, WORD = 3, 32

Case = Mapping[str, float]
Input = Callable[[Case], Number | None]
Tried = Iterator[tuple[Case, dict[str, float]]]


class Values:
    """The values of arguments in one case, and of the launch."""

    def __init__(self, inputs: Sequence[Input], case: Case) -> None:
        self._inputs, self._case = inputs, case
        self._known: dict[int, Number | None] = {}

    def __call__(self, at: int) -> Number | None:
        """Return the value at a position, computed once."""
        if at not in self._known:
            self._known[at] = self._inputs[at](self._case)
        return self._known[at]


@dataclass
class Budget:
    """How often conditions may still be computed."""

    left: int

    def spend(self, looks: int) -> bool:
        """Take some; tell whether they were there."""
        self.left -= looks
        return self.left >= 0


@dataclass(frozen=True)
class Trials:
    """Where to look for another side of a condition.

    `most` has the largest value of each variable that may be changed, `moved` are those of them
    that the condition depends on. Computing it once costs `cost`.
    """

    one: Condition
    inputs: Sequence[Input]
    most: Mapping[str, int]
    moved: Sequence[str]
    bases: Sequence[Case]
    cost: int
    budget: Budget

    def alone(self) -> Tried:
        """Yield cases with one variable changed: ever further, to numbers, to where sides meet."""
        for base in self.bases:
            yield base, dict(base)
        for base, name in itertools.product(self.bases, self.moved):
            begin, most = int(base[name]), self.most[name]
            tried = [*self.meeting(base, name), *further(begin, most), *self._numbers(begin)]
            for value in dict.fromkeys(tried):
                if 1 <= value <= most:
                    yield base, {**base, name: float(value)}
        far = max(self.one.term.moduli, default=0)
        for base, name in itertools.product(self.bases[:2], self.moved):
            for step in range(NEIGHBOURS + 1, min(far, MOST_NEIGHBOURS) + 1):
                if base[name] + step <= self.most[name]:
                    yield base, {**base, name: base[name] + step}

    def meeting(self, base: Case, name: str) -> list[int]:
        """Return sizes near the first at which two sides that are compared are the same."""
        found: list[int] = []
        for gap in self.one.gaps[:MOST_GAPS]:

            def above(value: int, gap: Callable[..., Number | None] = gap) -> bool:
                self.budget.spend(self.cost)
                apart = gap(Values(self.inputs, {**base, name: float(value)}))
                return apart is not None and apart > 0

            begin, most = int(base[name]), self.most[name]
            there = above(begin)
            for end in (most, 1):
                up = above(end)
                if self.budget.left <= 0 or up == there:
                    continue
                # From here to there, if it is one way.
                side = up if end > begin else there

                def beyond(value: int, side: bool = side) -> bool:
                    return above(value) == side

                met = sizes.least_above(min(begin, end), max(begin, end), beyond)
                found += [met, met - 1, met + 1, met - 2, met + 2, met + 9, met - 9]
                break
        return found

    def pairs(self) -> Tried:
        """Yield cases with two variables changed, by powers of two, and with two alike."""
        for base, pair in itertools.product(self.bases, itertools.combinations(self.moved, 2)):
            for name, other in (pair, pair[::-1]):
                if 1 <= base[other] <= self.most[name]:
                    yield base, {**base, name: base[other]}
            for powers in itertools.product(POWERS, repeat=2):
                case = dict(base)
                for name, power in zip(pair, powers, strict=True):
                    value = max(1.0, float(round(base[name] * 2.0**power)))
                    case[name] = min(value, float(self.most[name]))
                yield base, case

    def drawn(self, rng: np.random.Generator) -> Tried:
        """Yield cases in which each variable is drawn by itself, some of them multiples."""
        steps = [1, 1, 4, WORD, *sorted(self.one.term.moduli)[:MOST_NUMBERS]]
        for turn in range(DRAWN):
            base = self.bases[turn % len(self.bases)]
            case = dict(base)
            for name in self.moved:
                most = self.most[name]
                size = int(math.exp(rng.uniform(0.0, math.log(most + 1))))
                step = steps[int(rng.integers(len(steps)))]
                case[name] = float(max(1, min(most, -(-size // step) * step)))
            yield base, case
            if turn < MET:
                yield from self._met(base, case, self.moved[turn % len(self.moved)])

    def _met(self, base: Case, case: Case, name: str) -> Tried:
        """Yield cases near one in which the sides of a condition are about the same."""
        for value in self.meeting(case, name):
            if 1 <= value <= self.most[name]:
                yield base, {**case, name: float(value)}

    def twins(self, last: Case) -> Iterator[dict[str, float]]:
        """Yield cases near one with more odd sizes, or where all are odd, with whole words."""
        moved = self.moved[:MOST_TWINS]
        sides = [int(last[name]) for name in moved]
        odd = all(side % 2 for side in sides)
        near = [
            (side // WORD * WORD, (side // WORD + 1) * WORD) if odd else range(side - 3, side + 4)
            for side in sides
        ]
        tried = [
            {**last, **dict(zip(moved, map(float, every), strict=True))}
            for every in itertools.product(*near)
            if min(every) > 0
        ]
        for name in () if odd else moved:
            other = {**last, **{k: float(int(last[k]) | 1) for k in moved if k != name}}
            tried += [case for _, case in self._met(last, other, name)]

        def odds(case: Case) -> int:
            return sum(int(case[name]) % 2 for name in moved)

        # The number of odd ones, most first, and then by how little they are changed.
        fit = [case for case in tried if odd or odds(case) > odds(last)]
        yield from sorted(fit, key=lambda case: (-odds(case), apart(last, case, moved)))

    def _numbers(self, begin: int) -> Iterator[int]:
        """Yield sizes beside the numbers of a condition, and multiples of them near one."""
        for number in sorted(self.one.term.numbers)[:MOST_NUMBERS]:
            yield from (number, number + 1, number - 1)
            near = begin // number * number
            yield from (near, near + number, near - 1, near + 1)


def further(begin: int, most: int) -> Iterator[int]:
    """Yield sizes near one, and ever further away by the same factor.

    >>> [size for size in further(100, 150) if abs(size - 100) > NEIGHBOURS]
    [141, 71, 50, 35, 25, 18, 12, 9, 6, 4, 3, 2, 2, 1, 1, 1]
    """
    for step in range(1, NEIGHBOURS + 1):
        yield from (begin + step, begin - step)
    for sign in (1, -1):
        for turn in range(1, 80):
            size = round(begin * 2.0 ** (sign * turn / 2))
            if not 1 <= size <= most:
                break
            yield size


def apart(base: Case, case: Case, moved: Sequence[str]) -> float:
    """Return how far a case is from another one, by the factors of its sides."""
    return sum(abs(math.log(max(1.0, case[name]) / max(1.0, base[name]))) for name in moved)


def inputs(arguments: Sequence[Argument], launch: Launch | None) -> list[Input]:
    """Return how the value of each argument is found in a case, and of each way of a launch."""

    def argument(one: Argument) -> Input:
        name = (one.value or "").strip()

        def of(case: Case) -> Number | None:
            value = case.get(name)
            if value is not None and MOVED not in case and value.is_integer():
                return int(value)
            try:
                values = scalar_values(one, case)
            except (ExpressionError, ValueError):
                return None
            return values[0] if len(values) == 1 else None

        return of

    def way(at: int) -> Input:
        def of(case: Case) -> Number | None:
            if launch is None:
                return None
            try:
                grid, block, _ = geometry(launch, case)
            except (LaunchError, ExpressionError, ValueError):
                return None
            return (*grid, *block)[at]

        return of

    def none(_case: Case) -> None:
        return None

    known = [none if one.type.pointer else argument(one) for one in arguments]
    return [*known, *map(way, range(len(GEOMETRY)))]


def dependencies(
    uses: Collection[int], arguments: Sequence[Argument], launch: Launch | None
) -> list[str]:
    """Return what arguments and ways of a launch depend on; none where one is not known."""
    found: set[str] = set()
    for at in sorted(uses):
        texts = _texts(at, arguments, launch)
        if not texts:
            return []
        for text in texts:
            found |= _names(text)
    return sorted(found)


def _texts(at: int, arguments: Sequence[Argument], launch: Launch | None) -> tuple[str, ...]:
    if at in range(len(arguments)):
        argument = arguments[at]
        return () if argument.type.pointer else (argument.value or "0",)
    if launch is None or at < 0:
        return ()
    name, way = GEOMETRY[at - len(arguments)]
    ways = launch.grid if name == "gridDim" else launch.block
    return ways["xyz".index(way) :][:1] or ("1",)


def _names(text: str) -> frozenset[str]:
    try:
        return names(text)
    except ExpressionError:
        return frozenset()
