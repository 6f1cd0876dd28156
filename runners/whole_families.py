"""What whole numbers are like in each input family.

They may be indices: values stay within those they have, or within the range that was declared, and
no more than `HOT` of them meet in one place. The families that are about whole numbers alone
(counts, ends of ranges, collisions) are made for all of a workload's arrays at once, since those
have them by turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import whole_numbers
from runners.cuda_types import Field, Scalar, values
from runners.families import (
    ALIKE,
    ALTERNATING,
    CLUSTERED,
    EQUAL,
    FALLING,
    MOSTLY,
    NEARLY,
    captured_work,
    drawn,
    ranges,
)
from runners.inputs import Arrays, interleave, stream
from runners.places import aside, boundary
from runners.spec import Work

# Sums of a few hundred numbers below 100 fit into a short, of so many times as large they do not.
TIMES_SIGNED = 41
# Bytes from which on a whole number may be an index.
LEAST_WIDE = 4
# Numbers of a range less wide may be indices; of an array that short elements take turns.
MOST_INDEXED, FEW_ELEMENTS = 1 << 24, 4
# What many numbers of a range are multiples of, and how many such multiples there are.
CLUSTER, MOST_CLUSTERS = 1 << 10, 64
# Numbers of a range beyond this are multiples of nothing: they are worked out in 64 bits.
WIDEST = 1 << 62
# Places from one pair of numbers of a range to the next, no divisor of a row or a block.
APART = 61
# More than a counter of 16 bits holds; what puts so many into one place, and for how many.
HOT, CROWDED = (1 << 16) + 4096, frozenset({EQUAL, ALIKE, "one-hot", "large"})
Values = npt.NDArray[Any]


def whole(family: str, data: Values, rng: np.random.Generator) -> Values:
    """Rearrange whole numbers within the values they already have, so that indices stay valid.

    Where they are indices, no more than `HOT` of them meet in one place: threads that exchange a
    word until it holds take a time there that grows with the square of their number.
    """
    if not len(data):
        return data
    if family in CROWDED and len(data) > HOT:
        return np.concatenate([whole(family, data[:HOT], rng), data[HOT:]])
    if family in {EQUAL, ALIKE}:
        return np.full_like(data, data[rng.integers(len(data))])
    if family == "sorted":
        return np.asarray(np.sort(data))
    if family == FALLING:
        return np.asarray(np.sort(data)[::-1])
    if family == "one-hot":
        out = np.full_like(data, data.min())
        out[rng.integers(0, len(data), max(1, len(data) // 1000))] = data.max()
        return out
    if family == ALTERNATING:
        return _in_turns(data)
    if family == "edges":
        out, at = data.copy(), boundary(len(data), rng)
        if at:
            out[at - 1], out[at] = data.max(), data.min()
        return out
    if family == NEARLY:
        out, at = data.copy(), aside(len(data), rng)
        others = data[data != data[at]] if at else data[:0]
        if len(others):
            out[at] = others[rng.integers(len(others))]
        return out
    if family == "large":
        high = rng.random(len(data)) < 0.5
        return np.asarray(np.where(high, data.max(), data.min()).astype(data.dtype))
    if family == "mixed":
        out = data.copy()
        half = len(out) // 2
        out[:half] = np.sort(out[:half])
        out[half : half + min(half // 2, HOT)] = out[0]
        return out
    return data


def _in_turns(data: Values) -> Values:
    """Put the lower half at even places and the upper one at odd ones, each in the order it has."""
    count = -(-len(data) // 2)
    order = np.argpartition(data, count - 1)
    out = np.empty_like(data)
    out[::2], out[1::2] = data[np.sort(order[:count])], data[np.sort(order[count:])]
    return out


def half_below_zero(data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    """Give signs to whole numbers that nothing was said of, and larger sums to wide ones."""
    wide = data * TIMES_SIGNED if scalar.size >= LEAST_WIDE else data
    return np.asarray(np.where(rng.random(len(data)) < 0.5, -wide, wide))


def tallied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of whole numbers whose counts are decided by little, row by row."""
    out = dict(arrays)
    for argument in drawn(work):
        rng = stream(seed, family, argument.name)
        lengths = whole_numbers.row_lengths(argument.shape or "1", case)
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field)
            # Keys of a wide range are no indices, and meet in a table all the same.
            wide = field.scalar.size >= LEAST_WIDE
            parts.append(
                whole_numbers.tallied(
                    data,
                    [length * field.lanes for length in lengths],
                    rng,
                    mostly=family == MOSTLY,
                    most=HOT if wide else None,
                )
            )
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def alike(field: Field, low: int, high: int, count: int) -> int:
    """Return how many numbers of an array of `count`, and of a range, may be the same.

    All of them, but of what may be indices no more than `HOT`.
    """
    index = field.scalar.size >= LEAST_WIDE and high - low < MOST_INDEXED
    return min(HOT, count) if index else count


def at_ends(work: Work, arrays: Arrays, seed: int, *, nearly: bool = False) -> Arrays:
    """Return arrays that are all at the end of their range, by turns at the last and the first.

    `nearly`: a few of each are at the other end, those of one array elsewhere than another one's.
    Of what may be indices no more than `HOT` are the same; what is of no small range is none. A
    few elements take turns themselves: two points are then in opposite corners.
    """
    out = dict(arrays)
    for turn, (argument, low, high) in enumerate(ranges(work)):
        value = high if (turn + seed) % 2 else low
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            data[: alike(field, low, high, len(data))] = value
            if nearly:
                first = (turn * (APART // 4) + APART // 8) % APART
                data[first::APART][:HOT] = low if value == high else high
            if len(data) <= FEW_ELEMENTS:
                data[::2], data[1::2] = low, high
            parts.append(data)
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def clustered(work: Work, arrays: Arrays, seed: int) -> Arrays:
    """Return arrays whose whole numbers with a range are such as few are by chance."""
    out = dict(arrays)
    wide = [r[1:] for r in ranges(work) if r[2] - r[1] >= whole_numbers.LEAST_RANGE]
    worst = whole_numbers.pairs(max(r[0] for r in wide), min(r[1] for r in wide)) if wide else []
    turn = 0
    for argument, low, high in ranges(work):
        rng = stream(seed, CLUSTERED, argument.name)
        step = min(CLUSTER, max(1, (high - low) // MOST_CLUSTERS))
        first = -(-low // step)
        steps = [one for one in work.steps if high // one > -(-low // one)]
        steps = steps if low >= -WIDEST and high < WIDEST else []
        met = rng.integers(first, high // step + 1, MOST_CLUSTERS, endpoint=False) * step
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            what = rng.integers(0, 32, len(data))
            some = what < 8
            data[some] = met[rng.integers(0, len(met), int(some.sum()))].astype(data.dtype)
            if steps:
                at = np.flatnonzero((what >= 8) & (what < 12))[:HOT]
                data[at] = _multiples(steps, low, high, len(at), rng).astype(data.dtype)
            for value, kind in ((low, 30), (high, 31)):
                data[np.flatnonzero(what == kind)[:HOT]] = value
            if high - low >= whole_numbers.LEAST_RANGE:
                _pair(data, worst, turn)
                turn += 1
            parts.append(data)
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _multiples(
    steps: Sequence[int], low: int, high: int, count: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Return multiples of some numbers within a range, half of them one less."""
    by = np.asarray(steps, np.int64)[rng.integers(0, len(steps), count)]
    first, last = -(-low // by), high // by
    found = rng.integers(first, last, endpoint=True) * by - rng.integers(0, 2, count)
    return np.asarray(np.clip(found, low, high))


def _pair(data: Values, worst: Sequence[tuple[int, int]], turn: int) -> None:
    """Put pairs side by side, and in the next array the other way round at the same places."""
    for number, pair in enumerate(worst):
        at = np.arange(APART // 2 + number * APART, len(data) - 1, APART * len(worst))[: HOT // 2]
        data[at], data[at + 1] = pair[turn % 2], pair[1 - turn % 2]


def exact(work: Work) -> bool:
    """Tell whether nothing but whole numbers goes in, is worked out and comes out."""
    scalars = [one.scalar for argument in work.arguments for one in argument.type.fields]
    return work.whole and all(one.kind != "f" for one in scalars) and not captured_work(work)
