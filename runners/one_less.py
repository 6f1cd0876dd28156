"""Whole numbers that are nearly all at one end of their range, the others one less, or one more.

Of matrices of 0, 1 and 2 a product of six row sums fits into a float where all are 2: a sum of
twenties has the zeros of all their powers of two. It fits where some are 0, too, and by chance sums
are far smaller. Where some in a hundred are 1, sums are 19 and 17, and their product has more bits
than a float. So each row is at the upper or the lower end by turns, but for so many elements that
are beside it: none, one, two, three, a sixteenth to a half of them anywhere, or each so manieth one
from any place on: by a diagonal, or a column, all sums of a matrix are alike.

A row is all but the first factor of a shape in one half of an array, and what the last one spans in
the other; where a shape has none, stretches. Of what may be indices no more than `HOT` elements
are such (`runners.whole_families`). It is asked in one case, where a range has three numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import sizes
from runners.cuda_types import Field, values
from runners.families import ONE_LESS, captured_work, ranges
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Work
from runners.whole_families import alike
from runners.whole_numbers import row_lengths

# Elements of all buffers of a case, and rows in each part of an array that are such; stretches of
# an array that has no rows, and their length at least.
MOST_ELEMENTS, MOST_ROWS, STRETCHES, LEAST_ROW = 1 << 22, 1 << 11, 64, 8
# Elements of a row that are beside the end, parts of it that are, and steps from one to the next.
FEW, PARTS, STEPS = (0, 1, 2, 3), (16, 10, 7, 4, 2), (3, 5, 7, 8, 9, 10, 11, 13)
WAYS = len(FEW) + len(PARTS) + len(STEPS)

Case = Mapping[str, float]
Values = npt.NDArray[Any]
Places = npt.NDArray[np.int64]


def asked(work: Work, middle: Case) -> Iterator[tuple[Case, str]]:
    """Yield the case in which it is asked, if there are whole numbers of a range of three."""
    wide = any(high - low > 1 for _, low, high in ranges(work))
    if wide and not captured_work(work) and 0 < sizes.elements(work, middle) <= MOST_ELEMENTS:
        yield middle, ONE_LESS


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays whose rows are at an end of their range but for some elements."""
    out = dict(arrays)
    for number, one in enumerate(ranges(work)):
        argument, low, high = one
        if argument.name not in arrays or high <= low:
            continue
        rng = stream(seed, family, argument.name)
        count = len(arrays[argument.name]) // argument.type.size
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            _fill(data, field, one, [row * field.lanes for row in _rows(one, case)], number, rng)
            parts.append(data)
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _rows(one: Range, case: Case) -> list[int]:
    """Return the lengths of rows, one for each part of an array: the longest, and the shortest."""
    count = sizes.buffer(one[0], case)
    lengths = [row for row in row_lengths(one[0].shape or "1", case) if row < count]
    return [lengths[-1], *lengths[:-1][:1]] if lengths else [max(LEAST_ROW, count // STRETCHES)]


def _fill(
    data: Values, field: Field, one: Range, rows: list[int], number: int, rng: np.random.Generator
) -> None:
    """Fill an array, as far as its elements may be alike."""
    _, low, high = one
    most = alike(field, low, high, len(data))
    for part, row in enumerate(rows):
        begin = -(-part * most // len(rows) // row) * row
        end = min((part + 1) * most // len(rows), begin + MOST_ROWS * row)
        for turn, at in enumerate(range(begin, end, row)):
            # Each second array is at the other end by turns of all ways.
            upper = (turn + turn // (2 * WAYS) * number) % 2 == 0
            own = data[at : min(at + row, end)]
            own[:] = high if upper else low
            own[_beside(len(own), turn // 2 + number, rng)] = high - 1 if upper else low + 1


def _beside(length: int, turn: int, rng: np.random.Generator) -> Places:
    """Return which elements of a row are beside the end, in the turn of a way."""
    way = turn % WAYS
    if way >= len(FEW) + len(PARTS):
        step = STEPS[way - len(FEW) - len(PARTS)]
        return np.arange(int(rng.integers(step)), length, step)
    few = FEW[way] if way < len(FEW) else length // PARTS[way - len(FEW)]
    return np.asarray(rng.permutation(length)[:few])
