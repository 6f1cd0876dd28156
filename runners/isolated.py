"""Whole numbers that stand alone among others: counts that nothing takes off again.

Who counts what comes and takes off what goes, as pixels less edges plus squares, ends less
beginnings, opened less closed, holds numbers near zero of all that chance makes: of 255 numbers no
one is alone often enough, and where one is most of all there is (`runners.frequent`) its neighbours
are the same and take it off. Two signed counts of 16 bits in a word are then right at any size.

Such a count is largest where one number stands at every second place along each axis, so that no
two of them are neighbours, and all others are another number: the lower one alone among higher ones
for what goes by the larger of two neighbours, and the other way round for what goes by the smaller
one. By turns in the planes of an array, if it has several. And where three numbers are drawn at
random, in no pattern, each of them is alone in its own share of places.

Numbers are near zero, so that sums of them, and of products of three, fit into the original's
words. Of what may be indices no more than `HOT` are the same, or a few times as many as chance
makes; where that is not all there is, the others are many numbers. Which originals are asked, and
in which cases, is in `runners.large_together`.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import piles, sizes
from runners.axes import axes
from runners.cuda_types import Field, values
from runners.families import ISOLATED, drawn, ranges
from runners.full_counts import UNRANGED
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Argument, Work
from runners.whole_families import HOT, alike

# What is done: few numbers at random, the lower one alone, the higher one alone.
FEW, LOWER, HIGHER = FAMILIES = tuple(f"{ISOLATED} {one}" for one in ("few", "lower", "higher"))
# Numbers that are drawn, and so many factors whose products are to fit.
MANY, FACTORS = 3, 3
# Numbers of a range from which three are drawn at least, whatever sums they come to.
LEAST_WIDTH = 3
# An array of so many axes whose first is so many times shorter than the next has planes.
LEAST_AXES, APART = 3, 4
# How many times as many indices are the same as chance makes.
TIMES_CHANCE = 4

Case = Mapping[str, float]
Values = npt.NDArray[Any]


def lengths(argument: Argument, case: Case) -> list[int]:
    """Return how long an array is along each axis, the first one first; all of it where it has one.

    An axis of one place is none.
    """
    found = [length for length, _ in axes(argument, case)][::-1]
    count = sizes.buffer(argument, case)
    return found if prod(found) == count else [count]


def room(work: Work, count: int) -> int:
    """Return the largest number of which products of a few add up to what words hold, over all."""
    return int((piles.words(work) / max(1, count)) ** (1 / FACTORS))


def numbers(low: int, high: int, most: int, least: int = LEAST_WIDTH) -> tuple[int, int]:
    """Return the first and the last number of a part of a range that is nearest to zero.

    So many there are at least, as far as the range has them.

    >>> numbers(0, 255, 12), numbers(-500, 900, 12), numbers(7, 900, 12), numbers(-9, -3, 1)
    ((0, 12), (-12, 12), (7, 12), (-5, -3))
    """
    first, last = max(low, -most), min(high, most)
    if last - first < least - 1:
        nearest = min(high, max(low, 0))
        first = max(low, min(nearest, high - least + 1))
        last = min(high, first + least - 1)
    return first, last


def near(work: Work, case: Case, one: Range) -> tuple[int, int]:
    """Return the first and the last number of what is made of an array: as many as are needed."""
    argument, low, high = one
    most = room(work, max(sizes.buffer(other, case) for other in drawn(work)))
    indices = any(alike(field, low, high, HOT + 1) == HOT for field in argument.type.fields)
    # So many indices that each is met no oftener than they may be.
    width = 2 * sizes.buffer(argument, case) // HOT if indices else 0
    return numbers(low, high, most, max(width, LEAST_WIDTH))


def fits(work: Work, case: Case) -> bool:
    """Tell whether there is an array of several numbers, and sums of all fit into their words."""
    bounds = {argument.name: (low, high) for argument, low, high in ranges(work)}
    found = [
        (sizes.buffer(one, case), near(work, case, (one, *bounds.get(one.name, UNRANGED))))
        for one in drawn(work)
    ]
    most = max((many * max(map(abs, ends)) for many, ends in found), default=0)
    return any(ends[1] > ends[0] for _, ends in found) and most < piles.words(work)


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays of whole numbers of which some are alone."""
    out = dict(arrays)
    bounds = {argument.name: (low, high) for argument, low, high in ranges(work)}
    for number, argument in enumerate(drawn(work)):
        if argument.name not in arrays:
            continue
        # Of two arrays of one shape each is what the other one is not.
        higher = (family == HIGHER) != bool(number % 2)
        one = (argument, *bounds.get(argument.name, UNRANGED))
        ends = near(work, case, one)
        rng = stream(seed, family, argument.name)
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            if family == FEW:
                _few(data, field, one, ends, rng)
            elif ends[1] > ends[0]:
                _alone(data, field, one, ends, (lengths(argument, case), higher))
            parts.append(data)
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _same(field: Field, one: Range, count: int) -> int:
    """Return how many of an array may be the same number."""
    _, low, high = one
    chance = TIMES_CHANCE * count // (high - low + 1)
    return min(count, max(chance, alike(field, low, high, count)))


def _few(
    data: Values, field: Field, one: Range, ends: tuple[int, int], rng: np.random.Generator
) -> None:
    """Draw each number from a few of those that may be, as far as so many may be the same."""
    low, high = ends
    every = low + rng.choice(high - low + 1, min(MANY, high - low + 1), replace=False)
    count = min(len(data), len(every) * _same(field, one, len(data)))
    data[:count] = every[rng.integers(0, len(every), count)].astype(data.dtype)
    data[count:] = _near(data[count:], one, ends)


def _alone(
    data: Values, field: Field, one: Range, ends: tuple[int, int], how: tuple[list[int], bool]
) -> None:
    """Put one number at every second place along each axis, and another one elsewhere."""
    shape, higher = how
    alone = _every_second(shape, field.lanes)
    # Places at which what is alone is the higher number.
    above = np.full(len(data), higher)
    if len(shape) >= LEAST_AXES and APART * shape[0] <= shape[1]:
        alone = np.tile(_every_second(shape[1:], field.lanes), shape[0])
        above.reshape(shape[0], -1)[1::2] = not higher
    same = _same(field, one, len(data))
    low, high = (np.asarray(end).astype(data.dtype) for end in ends)
    if same >= len(data):
        data[:] = np.where(alone == above, high, low)
        return
    # The others are many numbers, and none of them is the one that is alone.
    by = np.where(above, ends[0], ends[0] + 1)
    width = ends[1] - ends[0]
    data[:] = (by + _from_first(data, one) % width).astype(data.dtype)
    at = np.flatnonzero(alone)[:same]
    data[at] = np.where(above[at], high, low)


def _near(data: Values, one: Range, ends: tuple[int, int]) -> Values:
    """Return numbers of a narrow range, of which there are few that are the same, near zero."""
    width = ends[1] - ends[0] + 1
    return np.asarray((ends[0] + _from_first(data, one) % width).astype(data.dtype))


def _from_first(data: Values, one: Range) -> Values:
    """Return how far numbers of a narrow range are from its first one."""
    return np.asarray((data - data.dtype.type(one[1])).astype(np.int64))


def _every_second(shape: list[int], lanes: int) -> npt.NDArray[np.bool_]:
    """Return which places are at even numbers along all axes.

    >>> _every_second([2, 3], 1).astype(int).tolist()
    [1, 0, 1, 0, 0, 0]
    """
    found = np.ones([1], np.bool_)
    for length in shape:
        found = np.logical_and.outer(found, np.arange(length) % 2 == 0).reshape(-1)
    return np.repeat(found, lanes)
