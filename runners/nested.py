"""Whole numbers that nest: brackets, and what is taken back in the order it was not put.

What keeps what is open in the bits of a word, on a stack of so many places, or looks for it among
so many elements, is right for all that chance makes: numbers that are drawn close soon what they
open. Here the first half of a row opens and the second half closes it, the last of it first.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations_with_replacement
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from runners import sizes, whole_numbers
from runners.families import NESTED, ranges
from runners.inputs import stream
from runners.spec import Argument, Work
from runners.whole_families import HOT, LEAST_WIDE

# Different numbers that open or close, all of a range that is no wider; turns in one case.
MOST_MARKS, MOST_TURNS = 8, 2
# The shortest row in which something nests deeper than chance has it.
LEAST_ROW = 16
# Rows that nest; of what may be indices no more than `HOT` elements do.
MOST_ROWS = 1 << 10

Values = npt.NDArray[Any]


class Way(NamedTuple):
    """Two numbers that open, by their places among all; what closes each; the last is wrong."""

    first: int
    second: int
    by: int
    wrong: bool


def turns(work: Work, case: Mapping[str, float]) -> int:
    """Return in how many turns there are rows enough for all ways of nesting, up to two."""
    return max((_turns(work, *one, case) for one in ranges(work)), default=0)


def made(
    data: Values,
    argument: Argument,
    ends: tuple[int, int],
    work: Work,
    seed: int,
    case: Mapping[str, float],
) -> Values:
    """Make rows open and close, each in another way; of seeds that follow on the next ways."""
    marks = np.asarray(_marks(work, *ends), np.int64).astype(data.dtype)
    ways = _ways(len(marks))
    rows, length = _rows(argument, case)
    if not ways or not rows:
        return data
    half = length // 2
    rng = stream(seed, NESTED, argument.name)
    # In the same order for all turns, so that together they have each.
    order = stream(0, NESTED, argument.name).permutation(len(ways))
    part = data[: rows * length].reshape(rows, length)
    for row in range(rows):
        way = ways[order[(seed * rows + row) % len(ways)]]
        opened = np.where(rng.random(half) < 0.5, way.first, way.second)
        closed = opened[::-1].copy()
        if way.wrong:
            closed[-1] = way.first + way.second - closed[-1]
        part[row, :half] = marks[opened]
        part[row, half : 2 * half] = marks[closed + way.by]
    return data


def _turns(work: Work, argument: Argument, low: int, high: int, case: Mapping[str, float]) -> int:
    rows, _ = _rows(argument, case)
    ways = len(_ways(len(_marks(work, low, high))))
    return min(MOST_TURNS, -(-ways // rows)) if rows else 0


def _rows(argument: Argument, case: Mapping[str, float]) -> tuple[int, int]:
    """Return how many rows nest, and how long they are; none of short ones.

    Of what may be indices no more than `HOT` meet in one place (`runners.whole_families`).
    """
    lengths = whole_numbers.row_lengths(argument.shape or "1", case)
    if not lengths or lengths[0] < LEAST_ROW or argument.type.scalar is None:
        return 0, 0
    count = sizes.buffer(argument, case)
    few = HOT if argument.type.scalar.size >= LEAST_WIDE else count
    return min(MOST_ROWS, min(count, few) // lengths[0]), lengths[0]


def _marks(work: Work, low: int, high: int) -> list[int]:
    """Return what may open or close: all of a small range, else what the original's text names."""
    if high - low < MOST_MARKS:
        return list(range(low, high + 1))
    named = [one for one in work.marks if low <= one <= high]
    beside = [one + by for by in (0, 1, -1) for one in named if low <= one + by <= high]
    return sorted(list(dict.fromkeys(beside))[:MOST_MARKS])


def _ways(marks: int) -> list[Way]:
    """Return the ways in which so many numbers nest, one closed by the next or by the last."""
    found = []
    for first, second in combinations_with_replacement(range(marks), 2):
        for by in (-1, 0, 1):
            if first + by < 0 or second + by >= marks:
                continue
            found.append(Way(first, second, by, wrong=False))
            if first < second:
                found.append(Way(first, second, by, wrong=True))
    return found
