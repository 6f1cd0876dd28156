"""Infinities of one sign where arrays may hold them: here and there, and in long stretches.

Of which arrays that is so the original's text tells (`runners.extremes`). What a thread, a warp, a
tile or a block is given first may be nothing else, and what one of four parts of a row is given:
sums that are scaled anew when a larger one comes, and parts that have nothing to add, show there.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from runners import whole_numbers
from runners.cuda_types import from_float, to_float, values
from runners.families import MASKED_ROWS
from runners.inputs import Arrays, interleave, stream
from runners.spec import Work

# One element of so many. A row has at least so many elements where a shape has longer ones.
ONE_IN, LEAST_ROW = 8, 64
# A warp's lanes, a block's threads, and what several tiles of most sizes have together.
WARP, BLOCK = 32, 256
KINDS = 8

Marks = npt.NDArray[np.bool_]


def masked(family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]) -> Arrays:
    """Return arrays with infinities in those that may have some; above zero where seeds are even.

    All are of one sign, since a sum of both would be NaN, which is promised to nobody.
    """
    out = dict(arrays)
    infinity = -np.inf if seed % 2 else np.inf
    for argument in work.arguments:
        if argument.name not in work.infinite or argument.name not in arrays:
            continue
        kind, one = argument.type, argument.type.fields[0]
        rng = stream(seed, family, argument.name)
        wide = to_float(values(arrays[argument.name], kind, one), one.scalar)
        count = len(wide)
        if family == MASKED_ROWS:
            lengths = whole_numbers.row_lengths(argument.shape or "1", case)
            wanted = (length * one.lanes for length in lengths if length * one.lanes >= LEAST_ROW)
            length = next(wanted, count)
            marks = rows(count, min(length, count), rng, whole=work.leaves_out)
        else:
            marks = rng.random(count) < 1 / ONE_IN
        data = from_float(np.where(marks, infinity, wide), one.scalar)
        out[argument.name] = interleave([data], kind, count // one.lanes)
    return out


def rows(count: int, length: int, rng: np.random.Generator, *, whole: bool) -> Marks:
    """Mark stretches of each row, and with `whole` some rows from end to end.

    Which rows are of a kind is chance, but that as many are as of any other.
    """
    marks = np.zeros(count, np.bool_)
    if length < 2:
        return marks
    kinds = rng.permutation(np.arange((count + length - 1) // length) % KINDS)
    if len(kinds) == 1:
        # Neither its first part nor its last.
        marks[: int(length * rng.uniform(0.2, 0.5))] = marks[3 * length // 4 :] = True
        return marks
    for number, kind in enumerate(kinds):
        row = marks[number * length : (number + 1) * length]
        _row(row, int(kind), rng, whole=whole)
    return marks


def _row(row: Marks, kind: int, rng: np.random.Generator, *, whole: bool) -> None:
    """Mark a row's first part, its last quarter, all but one, what lies within, or none of it."""
    count = len(row)
    if kind == 0:
        row[: int(count * rng.uniform(0.25, 0.75))] = True
    elif kind == 1:
        row[3 * count // 4 :] = True
    elif kind == 2:
        row[:] = True
        row[rng.integers(count)] = False
    elif kind == 3:
        row[count // 4 : 3 * count // 4] = True
    elif kind == 4:
        # All that comes to one warp of a block, and to one lane of each.
        places = np.arange(count)
        row[:] = places % BLOCK // WARP == rng.integers(BLOCK // WARP)
        row |= places % WARP == rng.integers(WARP)
    elif kind == 5:
        row[:] = np.arange(count) // BLOCK % 2 == rng.integers(2)
    elif kind == 6:
        # Nearly all, from the first on; rows of nothing else where these have an answer.
        row[: count if whole else count - max(1, count // 16)] = True
