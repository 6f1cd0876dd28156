"""Whole numbers that swing: out from the middle of their range, back in, and from end to end.

What keeps a stack of turning points has few of them open among numbers that are drawn: a larger
swing soon closes what is smaller. Swings that grow by one from the middle leave each of them open,
and so do those that shrink again behind them: 127 points of 64 levels, of which a ring keeps 64 and
no more. The first large swing then closes dozens at once, where a loop that was unrolled closes
eight. Swings from end to end make the largest sum of differences that there is, and of their cubes.

So each line of an array has a way of its own: such swings, by one at a time and over again, or such
that the whole line is one of them; each number once, or twice; slow rises with a sudden fall, which
pool all that came before, and hills and valleys, of which each point is on the hull. Some lines
stay as they are drawn. A line goes along any axis: of `t*c` numbers c have t behind each other, c
places apart.

Such are arrays that are drawn by themselves, from a range that is no count of places. Which
originals are asked, and in which cases, is in `runners.swinging`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import following, piles
from runners.axes import axes, length
from runners.cuda_types import values
from runners.families import drawn, ranges
from runners.going_round import UNRANGED
from runners.inputs import Arrays, interleave
from runners.spec import Argument, Work
from runners.swing_ways import ALL, WAYS, Offsets, made
from runners.whole_families import alike

# Numbers of a range, and of a line, at least.
LEAST_WIDTH, LEAST_LINE = 8, 16
# Ways that are met where all sizes but one are small, and how far from array to array they move on.
FIRST, NEXT_ARRAY = 9, 5
# What is said behind a family in which swings are no larger than an original's words hold.
NEAR = " near"

Case = Mapping[str, float]
Values = npt.NDArray[Any]


def swinging(work: Work) -> Iterator[tuple[Argument, int, int]]:
    """Yield the arrays that may swing, with the first and the last number of their range."""
    bounds = {argument.name: (low, high) for argument, low, high in ranges(work)}
    places = {one.argument.name for one in following.followed(work)}
    for argument in drawn(work):
        low, high = bounds.get(argument.name, UNRANGED)
        if high - low >= LEAST_WIDTH - 1 and argument.name not in places:
            yield argument, low, high


def room(work: Work, case: Case, argument: Argument, axis: int) -> int:
    """Return the largest swing of which a line's squares add up to what an original's words hold.

    There are fewer sums of squares by chance, and beyond its words an original means nothing.
    """
    return max(LEAST_WIDTH, isqrt(piles.words(work) // max(1, length(argument, case, axis))) - 1)


def _near(low: int, high: int, most: int) -> tuple[int, int]:
    """Return the first number of a part of a range, and its width: that is nearest to zero.

    >>> _near(-500, 900, 99), _near(7, 900, 99), _near(-5, 5, 99)
    ((-50, 100), (7, 100), (-5, 11))
    """
    width = min(high - low, most) + 1
    return max(low, min(-(width // 2), high - width + 1)), width


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays whose lines along an axis swing; which axis and turn stands behind a name."""
    del seed
    axis, turn = (int(word) for word in family.split()[1:3])
    out = dict(arrays)
    for number, (argument, low, high) in enumerate(swinging(work)):
        every = axes(argument, case)
        if argument.name not in arrays or axis >= len(every) or every[axis][0] < LEAST_LINE:
            continue
        count = len(arrays[argument.name]) // argument.type.size
        largest = room(work, case, argument, axis) if family.endswith(NEAR) else high - low
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).reshape(count, field.lanes)
            made = data.copy()
            for lane in range(field.lanes):
                # Of a vector each number swings by itself.
                lines = _lines(data[:, lane], every[axis])
                # At either end is half of what swings.
                most = 2 * alike(field, low, high, count)
                ends = _near(low, high, largest)
                _swing(lines[: max(1, most // lines.shape[1]), :most], ends, number + lane, turn)
                made[:, lane] = _lines(lines.reshape(-1), every[axis][::-1]).reshape(-1)
            parts.append(made.reshape(-1))
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _lines(data: Values, axis: tuple[int, int]) -> Values:
    """Return the lines of an array along an axis; of a shape that is no product one, all of it."""
    length, apart = axis
    planes = data.reshape(-1, length, apart)
    return planes.transpose(0, 2, 1).reshape(-1, length).copy()


def _swing(lines: Values, ends: tuple[int, int], number: int, turn: int) -> None:
    """Let lines swing, each in a way of its own, from a first number and of a width."""
    low, width = ends
    few = len(lines) < FIRST
    if few and not turn:
        _in_stretches(lines, ends, number * NEXT_ARRAY)
        return
    # Few lines swing from end to end all along, those of one array in each turn.
    first = (number - turn + 1) * NEXT_ARRAY if few else number * NEXT_ARRAY + turn * FIRST
    for way in range(len(WAYS)):
        at = (way - first) % ALL
        if at < len(lines):
            line = made(way, lines.shape[1], width)
            # Each second time upside down.
            lines[at :: 2 * ALL] = _from(line, low, lines.dtype)
            lines[at + ALL :: 2 * ALL] = _from(np.uint64(width - 1) - line, low, lines.dtype)


def _in_stretches(lines: Values, ends: tuple[int, int], first: int) -> None:
    """Let few lines swing in several ways each, one stretch behind the other."""
    low, width = ends
    stretches = -(-ALL // len(lines))
    each = max(1, -(-lines.shape[1] // stretches))
    for number, line in enumerate(lines):
        for stretch in range(stretches):
            own = line[stretch * each : (stretch + 1) * each]
            way = (first + number * stretches + stretch) % ALL
            if way < len(WAYS) and len(own):
                own[:] = _from(made(way, len(own), width), low, lines.dtype)


def _from(line: Offsets, low: int, dtype: np.dtype[Any]) -> Values:
    return np.asarray((line + np.uint64(low % (1 << 64))).astype(dtype))
