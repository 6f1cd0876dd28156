"""One whole number that is most of a very long row, and all others as they are drawn.

A time of 16 bits is right for 65,536 accesses of one place, and no longer: the newest of what is
there is then taken for the oldest. Of numbers that are drawn from many, each place has few. A row
of one number alone has so many, but nothing that could be mistaken for it; and where few others
stand beside it (`mostly`), none of them has to do with its place. Here an eighth of them are drawn
from all there are, and behind them all are, as far as a candidate has to be right.

Of what may be indices no more than `HOT` are the same, which is more than 16 bits count. The number
is one of the lower half of those that were drawn, so that sums are no larger than by chance. Which
originals are asked, and in which cases, is in `runners.unlikely`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import end_contents
from runners.cuda_types import Field, values
from runners.families import drawn, ranges
from runners.full_counts import UNRANGED
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Work
from runners.whole_families import HOT, alike
from runners.whole_numbers import MOST_LOOKED_AT, OF, places

# In shorter rows no number is more than 8 bits count.
SHORTEST_ROW = 1 << 9

Case = Mapping[str, float]
Values = npt.NDArray[Any]


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays of whole numbers of which one is most of each row, as far as they may be."""
    out = dict(arrays)
    bounds = {argument.name: (low, high) for argument, low, high in ranges(work)}
    for argument in drawn(work):
        one = (argument, *bounds.get(argument.name, UNRANGED))
        rng = stream(seed, family, argument.name)
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            _fill(data, field, one, end_contents.row(one, case) * field.lanes, rng)
            parts.append(data)
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _fill(data: Values, field: Field, one: Range, row: int, rng: np.random.Generator) -> None:
    """Fill each row of an array, as far as its elements may be alike."""
    _, low, high = one
    if row < SHORTEST_ROW:
        return
    left = alike(field, low, high, len(data))
    sorted_ones = np.unique(data[:MOST_LOOKED_AT])
    lower = sorted_ones[np.argsort(np.abs(sorted_ones.astype(np.float64)), kind="stable")]
    lower = lower[: max(1, len(lower) // 2)]
    for begin in range(0, len(data), max(1, row)):
        own = data[begin : begin + min(row, HOT * OF // (OF - 1))]
        many = min(places(len(own)), left)
        if many < 1:
            return
        own[rng.permutation(len(own))[:many]] = lower[rng.integers(len(lower))]
        left -= many
