"""Whole numbers that make chains along each row, beside others that are one number throughout.

A tree that is drawn at random is some ten nodes deep, and where tokens, weights or flags must be
alike along a way, it ends sooner still. Who halves the way five times for 64 nodes, or counts its
steps in five bits, is right for all of these. Where all arrays advance together (`BEFORE`, `AFTER`
of `runners.families`) what should be alike is not. So arrays whose numbers may be places of a row,
since their range is as wide as it, a part of it or a variable, hold chains, each row another kind
by turns: the place before each element's own, the same behind the middle alone, the place behind
it, every second and every fourth place (two and four chains side by side), its own, and those that
were drawn. All other whole numbers with a range are one number throughout a row: the lower end, the
upper one, one, or any. In every other turn one place of one of them is another number, so that a
chain may break anywhere. Floats are as declared.

Of several arrays of places all are chains, and one after the other is the only one. A case is the
middle one with sizes that are no larger than a chain may be long (`runners.edge_paths`). Numbers
stay within their ranges, and of what may be indices no more than `HOT` are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import sizes
from runners.axes import plane
from runners.cuda_types import Field, values
from runners.edge_paths import MOST_LONG
from runners.expressions import names
from runners.families import CHAINS, captured_work, ranges
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Argument, Work
from runners.whole_families import WIDEST, alike

# Places of a range at least: below are flags and letters. Minus one may stand for none of them.
LEAST_WIDTH, LEAST_LOW = 8, -1
# How a row's places are linked, and what all else is there; no common divisor, so that all meet.
BEFORE, BEHIND_MIDDLE, AFTER, TWO, OWN, FOUR, DRAWN = range(7)
LOWER, UPPER, ONE, ANY = range(4)
KINDS, FILLS = 7, 4
WAYS = KINDS * FILLS
# What turns there are where rows are few, how many arrays are the only one, elements of a case.
MOST_TURNS, MOST_ALONE, MOST_ELEMENTS = 4, 2, 1 << 20
ALL = "all"

Case = Mapping[str, float]
Values = npt.NDArray[Any]
Places = npt.NDArray[np.int64]
Make = Callable[[Field, Values], Values]


@dataclass(frozen=True, slots=True)
class Links:
    """An array whose numbers may be places of a row, and of how many; `size` is a variable's."""

    argument: Argument
    low: int
    high: int
    size: str

    @property
    def first(self) -> int:
        """Return the number of the first place."""
        return max(self.low, 0)

    def lines(self, case: Case) -> tuple[Places, Places]:
        """Return for each element in which line it is, and at which place of it."""
        at = np.arange(sizes.buffer(self.argument, case), dtype=np.int64)
        row, along = plane(self.argument, case)
        width = self.high - self.first + 1
        if along == width != row:
            return at // (row * along) * row + at % row, at // row % along
        part = max(1, min(row, width, int(case.get(self.size, width))))
        return at // row * -(-row // part) + at % row // part, at % row % part


def linked(work: Work) -> tuple[Links, ...]:
    """Return the arrays whose numbers may be places of a row."""
    found = (_links(work, one) for one in ranges(work))
    return tuple(one for one in found if one is not None)


def _links(work: Work, one: Range) -> Links | None:
    argument, low, high = one
    width = high - max(low, 0) + 1
    if low < LEAST_LOW or width < LEAST_WIDTH:
        return None
    if any(_literal(argument, case.values, width) for case in work.cases):
        return Links(argument, low, high, "")
    for case in work.cases:
        same = [name for name in sizes.sizing(work) if case.values.get(name) == width]
        if same or width == plane(argument, case.values)[0]:
            return Links(argument, low, high, next(iter(same), ""))
    return None


def _literal(argument: Argument, case: Case, width: int) -> bool:
    """Tell whether rows have so many places at all sizes, or a multiple, or columns so many."""
    longer = {**case, **{name: case.get(name, 0.0) + 1 for name in names(argument.shape or "1")}}
    (row, along), (later, farther) = plane(argument, case), plane(argument, longer)
    return (row == later and row % width == 0) or along == farther == width


def asked(work: Work, middle: Case) -> Iterator[tuple[Case, str]]:
    """Yield the case and the families that are asked where whole numbers may be places of a row."""
    every = linked(work)
    if not every or captured_work(work):
        return
    case = {**middle, **{n: min(middle[n], float(MOST_LONG)) for n in sizes.sizing(work)}}
    if not 0 < sizes.elements(work, case) <= MOST_ELEMENTS:
        return
    many = max(_many(one.lines(case)[0]) for one in every)
    for turn in range(min(MOST_TURNS, -(-WAYS // max(1, many)))):
        yield case, f"{CHAINS} {turn} {ALL}"
    for which in range(len(every))[:MOST_ALONE] if len(every) > 1 else ():
        yield case, f"{CHAINS} 0 {which}"


def _many(lines: Places) -> int:
    return int(lines.max()) + 1 if len(lines) else 0


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays of which those of places are chains, and other whole numbers all the same."""
    _, turn, which = family.split()
    every = [one for at, one in enumerate(linked(work)) if which in {ALL, str(at)}]
    placed = [(one, *one.lines(case)) for one in every if one.argument.name in arrays]
    many = max((_many(line) for _, line, _ in placed), default=0)
    out = dict(arrays)
    if not many:
        return out
    ways = np.arange(many, dtype=np.int64) + int(turn)
    for number, (one, line, place) in enumerate(placed):
        # Of two arrays both are of one kind first, and then of others.
        kinds = (ways + number * (ways // WAYS)) % KINDS
        chain = partial(_chain, one, kinds[line], place)
        out[one.argument.name] = _made(one.argument, arrays, chain)
    known = {len(line): line for _, line, _ in reversed(placed)}
    others = _others(work, arrays, {one.argument.name for one, _, _ in placed})
    # The same for all arrays that are declared alike.
    share = stream(seed, CHAINS, "numbers").random(many)
    for number, other in enumerate(others):
        argument, low, high = other
        elements = len(arrays[argument.name]) // argument.type.size
        line = known.get(elements, _in_order(elements, many))
        numbers = _numbers(other, ways, share)[line]
        breaks = (ways // WAYS % 2 == 1) & (ways // WAYS // 2 % len(others) == number)
        at = _one_of_each(line, stream(seed, CHAINS, "breaks", argument.name))
        at = at[breaks[line[at]]]
        apart = 1 + (share[line[at]] * (high - low)).astype(np.int64)
        numbers[at] = low + (numbers[at] - low + apart) % (high - low + 1)
        out[argument.name] = _made(argument, arrays, partial(_alike, other, numbers))
    return out


def _made(argument: Argument, arrays: Arrays, make: Make) -> npt.NDArray[np.uint8]:
    kind = argument.type
    parts = [make(one, values(arrays[argument.name], kind, one).copy()) for one in kind.fields]
    return interleave(parts, kind, len(arrays[argument.name]) // kind.size)


def _chain(one: Links, kinds: Places, place: Places, _field: Field, data: Values) -> Values:
    """Return what each place is linked with, by the kind of its line."""
    lanes = len(data) // max(1, len(place))
    place, kinds = np.repeat(place, lanes), np.repeat(kinds, lanes)
    steps = [kinds == kind for kind in (AFTER, TWO, OWN, FOUR)]
    made = one.first + place + np.select(steps, [1, -2, 0, -4], default=-1)
    half = (int(place.max(initial=0)) + 1) // 2
    drawn = (kinds == DRAWN) | ((kinds == BEHIND_MIDDLE) & (place < half))
    return np.asarray(np.where(drawn, data, np.clip(made, one.low, one.high).astype(data.dtype)))


def _others(work: Work, arrays: Arrays, placed: set[str]) -> list[Range]:
    """Return the other arrays, of which each may be more than one number."""
    return [
        (argument, low, high)
        for argument, low, high in ranges(work)
        if argument.name in arrays and argument.name not in placed
        if -WIDEST < low < high < WIDEST
    ]


def _in_order(elements: int, many: int) -> Places:
    """Return which elements belong to which line where shapes are others: one or some for each.

    A table that is shorter belongs to all.
    """
    at = np.arange(elements, dtype=np.int64)
    return at * many // elements if elements >= many else np.zeros_like(at)


def _numbers(other: Range, ways: Places, share: npt.NDArray[np.float64]) -> Places:
    """Return the number that an array is in each line."""
    _, low, high = other
    anywhere = low + np.minimum((share * (high - low + 1)).astype(np.int64), high - low)
    which = [ways % FILLS == one for one in (LOWER, UPPER, ONE)]
    return np.select(which, [low, high, min(high, max(low, 1))], default=anywhere)


def _one_of_each(line: Places, rng: np.random.Generator) -> Places:
    """Return an element of each line."""
    order = rng.permutation(len(line))
    _, first = np.unique(line[order], return_index=True)
    return np.asarray(order[first])


def _alike(other: Range, numbers: Places, field: Field, data: Values) -> Values:
    """Return numbers of each element, in all of its lanes; of what may be indices the first."""
    made = np.repeat(numbers, field.lanes).astype(data.dtype)
    most = alike(field, *other[1:], len(data))
    return np.concatenate([made[:most], data[most:]])
