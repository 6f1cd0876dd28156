"""Arrays that have to do with each other, and few elements that differ: added to recipes.

A comparison is decided by the first place in which two rows differ, a carry by the one behind it, a
search by what stands at both ends of a row. Arrays that are made one by one differ everywhere.
Here an array may be another one's copy, reversed, moved on or what is left of its range; all of one
may be alike; and then few elements are changed, at places at which code has its turns: the ends of
rows, the middle, beside multiples of what threads take at a time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from runners import whole_numbers
from runners.cuda_types import Scalar, from_float, to_float, values
from runners.families import ranges
from runners.inputs import FREE, Arrays, stream
from runners.spec import Argument, Work

WORD = "kindred"
# How often arrays are akin, one or all of them alike throughout or a short word over and over, and
# elements are changed.
AKIN, FLAT, WORDS, CHANGED, EVERYWHERE = 0.5, 0.35, 0.2, 0.75, 0.5
# How often floats creep by their last places, or lie beside a number far from zero. Infinities have
# families that know what is promised of them (`runners.all_infinite`, `runners.infinite_ends`).
CREEPING, BESIDE = 0.12, 0.12
FARTHEST = 7.0
# Elements that are changed, and places in a row beside which code has its turns.
MOST_CHANGED, LONGEST_WORD = 3, 4
TURNS = (1, 2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

Values = npt.NDArray[Any]


class Part(NamedTuple):
    """An array that may be made anew: its elements, and what they may be."""

    argument: Argument
    scalar: Scalar
    data: Values
    low: int
    high: int
    row: int


def applied(work: Work, arrays: Arrays, seed: int, turn: int, case: Mapping[str, float]) -> Arrays:
    """Return arrays of which some have to do with each other, or few elements with the others."""
    rng = stream(seed, WORD, turn)
    parts = _parts(work, arrays, case)
    if not parts:
        return arrays
    dice = rng.random()
    if dice < FLAT + WORDS:
        for at in _some(len(parts), rng):
            parts[at] = _alike(parts[at], rng) if dice < FLAT else _repeated(parts[at], rng)
    for at, part in enumerate(parts):
        if part.scalar.kind == "f":
            parts[at] = _floats(part, rng)
    if rng.random() < AKIN:
        parts = _akin(parts, rng)
    if rng.random() < CHANGED:
        for at in _some(len(parts), rng):
            parts[at] = _changed(parts[at], rng)
    out = dict(arrays)
    for part in parts:
        data = np.sort(part.data) if part.argument.init == "sorted" else part.data
        out[part.argument.name] = np.ascontiguousarray(data).view(np.uint8).reshape(-1)
    return out


def _parts(work: Work, arrays: Arrays, case: Mapping[str, float]) -> list[Part]:
    bounds = {argument.name: (low, high) for argument, low, high in ranges(work)}
    found = []
    for argument in work.arguments:
        word, fields = argument.init.partition(":")[0], argument.type.fields
        usable = argument.type.pointer and argument.role != "output" and len(fields) == 1
        if argument.name not in arrays or not usable or not len(arrays[argument.name]):
            continue
        scalar = fields[0].scalar
        data = values(arrays[argument.name], argument.type, fields[0]).copy()
        if scalar.kind == "f" and word in {*FREE, "sorted"}:
            low, high = 0, 1
        elif scalar.kind in "iu" and argument.name in bounds:
            low, high = bounds[argument.name]
        else:
            continue
        lengths = whole_numbers.row_lengths(argument.shape or "1", case) or [len(data)]
        found.append(Part(argument, scalar, data, low, high, min(lengths[0], len(data))))
    return found


def _some(count: int, rng: np.random.Generator) -> Sequence[int]:
    """Return one of them, or all."""
    return range(count) if rng.random() < EVERYWHERE else [int(rng.integers(count))]


def _alike(part: Part, rng: np.random.Generator) -> Part:
    """Return an array of one value, in each row or in all."""
    data = part.data
    if part.scalar.kind == "f":
        wide = to_float(data, part.scalar)
        one = [0.0, 1.0, float(wide[int(rng.integers(len(wide)))])][int(rng.integers(3))]
        return part._replace(data=from_float(np.full(len(data), one), part.scalar))
    near = min(part.high, max(part.low, 0))
    middle = int(rng.integers(part.low, part.high, endpoint=True))
    one_of = [near, part.low, part.high, middle, (part.low + part.high) // 2]
    found = np.full(len(data), one_of[int(rng.integers(len(one_of)))], data.dtype)
    return part._replace(data=found)


def _repeated(part: Part, rng: np.random.Generator) -> Part:
    """Return an array of a short word over and over, or in each row another one's turns."""
    data, row = part.data, part.row
    length = int(rng.integers(2, LONGEST_WORD, endpoint=True))
    if part.scalar.kind == "f":
        word = data[rng.integers(0, len(data), length)]
    else:
        few = rng.integers(part.low, part.high, length, endpoint=True)
        ends = np.asarray([part.low, part.high, min(part.high, part.low + 1)])
        mixed = np.where(rng.random(length) < EVERYWHERE, ends[rng.integers(0, 3, length)], few)
        word = mixed.astype(data.dtype)
    at = np.arange(len(data))
    turn = at if rng.random() < EVERYWHERE else at % row + at // row
    return part._replace(data=np.ascontiguousarray(word[turn % length]))


def _floats(part: Part, rng: np.random.Generator) -> Part:
    """Return floats next to each other, or far from zero; most often as they are."""
    dice, data = rng.random(), part.data
    if dice > CREEPING + BESIDE or part.scalar.name == "half":
        return part
    wide = to_float(data, part.scalar)
    top = 4.0 if dice < CREEPING else FARTHEST
    centre = float(10.0 ** rng.uniform(0.0, top))
    if dice < CREEPING:
        steps = rng.integers(-1, 3, len(wide)) if rng.random() < EVERYWHERE else 1
        places = np.cumsum(np.broadcast_to(steps, len(wide))) % max(2, part.row)
        wide = centre * (1 + 2 * part.scalar.roundoff * places)
    else:
        wide += centre
    return part._replace(data=from_float(wide, part.scalar))


def _akin(parts: list[Part], rng: np.random.Generator) -> list[Part]:
    """Return arrays of which those of one kind are made of the first of them."""
    out = list(parts)
    first: dict[tuple[object, ...], Part] = {}
    for at, part in enumerate(parts):
        kind = (part.scalar.name, part.low, part.high, part.argument.init)
        before = first.setdefault(kind, part)
        if before is part:
            continue
        data = np.resize(before.data, len(part.data))
        dice = int(rng.integers(8))
        if dice == 0:
            data = data[::-1]
        elif dice == 1:
            data = np.roll(data, 1)
        elif dice == 2 and len(data) % part.row == 0:
            data = data.reshape(-1, part.row)[:, ::-1].reshape(-1)
        elif dice == 3:
            data = np.sort(data)
        elif dice == 4 and part.scalar.kind != "f":
            # All bits of both are set where a range ends just before that.
            both = part.low + part.high + int(rng.integers(-1, 2))
            rest = np.clip(both - data.astype(object), part.low, part.high)
            data = rest.astype(data.dtype)
        elif dice == 5 and len(data) % part.row == 0:
            data = np.roll(data.reshape(-1, part.row), 1, axis=0).reshape(-1)
        out[at] = part._replace(data=np.ascontiguousarray(data))
    return out


def _changed(part: Part, rng: np.random.Generator) -> Part:
    """Return an array of which few elements of a row, or of each, are something else."""
    data, row = part.data.copy(), part.row
    rows = len(data) // row
    for _ in range(int(rng.integers(1, MOST_CHANGED, endpoint=True))):
        which = np.arange(rows)
        if rng.random() < EVERYWHERE:
            which = np.asarray([[0, rows - 1, int(rng.integers(rows))][int(rng.integers(3))]])
        column = _column(row, rng)
        places = which * row + (column if rng.random() < EVERYWHERE else (column + which) % row)
        data[places] = _other(part, data[places], data[int(rng.integers(len(data)))], rng)
    return part._replace(data=data)


def _column(row: int, rng: np.random.Generator) -> int:
    turns = [turn for turn in TURNS if turn < row]
    near = int(turns[int(rng.integers(len(turns)))]) if turns else 0
    beside = near + int(rng.integers(-1, 2))
    back = row - near + int(rng.integers(-1, 2))
    ways = [0, row - 1, row // 2, int(rng.integers(row)), beside, beside, back, back]
    return max(0, min(row - 1, ways[int(rng.integers(len(ways)))]))


def _other(part: Part, own: Values, another: Any, rng: np.random.Generator) -> Values:
    """Return what stands in place of some elements."""
    if part.scalar.kind == "f":
        wide = to_float(np.atleast_1d(own), part.scalar)
        largest = float(np.max(np.abs(np.nan_to_num(to_float(part.data, part.scalar), posinf=1.0))))
        other = float(to_float(np.atleast_1d(another), part.scalar)[0])
        step = 2 * part.scalar.roundoff
        far = 10.0 ** rng.uniform(1.0, 2.0 if part.scalar.name == "half" else 6.0)
        below = part.argument.init != "uniform"
        ways: list[Values] = [
            np.zeros(len(wide)),
            np.full(len(wide), other),
            wide * (1 + step),
            wide * (1 - step / 2),
            np.full(len(wide), far * max(1.0, largest)),
            np.full(len(wide), -far * max(1.0, largest) if below else 1.0),
            -wide if below else wide,
            np.full(len(wide), -0.0),
        ]
        return from_float(ways[int(rng.integers(len(ways)))], part.scalar)
    near = min(part.high, max(part.low, 0))
    single = [part.low, part.high, near, int(another), min(part.high, near + 1)]
    dice = int(rng.integers(len(single) + 4))
    if dice < len(single):
        return np.full(len(own), single[dice], own.dtype)
    by = 1 if dice % 2 else -1
    moved = np.clip(own.astype(object) + by, part.low, part.high)
    return np.asarray(moved.astype(own.dtype))
