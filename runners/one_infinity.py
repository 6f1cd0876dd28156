"""One array of floats with infinities within some of its rows, or at their ends.

Who gives another result for one of the two treats these places differently
(`runners.infinite_ends`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from runners import spoilt, zeros_beside
from runners.cuda_types import from_float, to_float, values
from runners.inputs import Arrays, interleave
from runners.spec import Work

# One row of so many, the last among them, and so many arrays, each by itself.
ONE_ROW, MOST_ARRAYS = 4, 3
WITHIN, LAST = "infinity within array", "infinity at the ends of array"
FAMILIES = frozenset(f"{one} {number}" for one in (WITHIN, LAST) for number in range(MOST_ARRAYS))


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of which one has infinities; the number of a family says which."""
    del seed
    out = dict(arrays)
    place, _, number = family.rpartition(" ")
    every = [*zeros_beside.usable(work)]
    if int(number) >= len(every) or every[int(number)].type.scalar is None:
        return out
    argument = every[int(number)]
    kind, one = argument.type, argument.type.fields[0]
    wide = to_float(values(arrays[argument.name], kind, one), one.scalar).copy()
    rows = spoilt.rows(argument, wide, case)
    rows[::-ONE_ROW, -1 if place == LAST else rows.shape[1] // 2] = np.inf
    count = len(wide) // one.lanes
    out[argument.name] = interleave([from_float(wide, one.scalar)], kind, count)
    return out
