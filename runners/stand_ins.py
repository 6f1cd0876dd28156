"""Numbers in the place of a NaN among the inputs.

What changes with none of them does not depend on the NaN (`runners.regardless`). A larger number
than all others and a smaller one are among them: a largest or a smallest is one of few.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from runners.cuda_types import from_float, to_float, values
from runners.inputs import Arrays
from runners.spec import Work

# So many in turn: one of the others, a larger one, a smaller one; and one far above all, for
# results of so few digits that no other one shows in a sum.
NUMBERS, FAR = 3, 4
# Beyond the others by this share of their spread: enough to be the largest, and no outlier.
BEYOND, FAR_BEYOND = 0.125, 64.0


def finite(work: Work, arrays: Arrays, number: int) -> Arrays:
    """Put a number in the place of the NaN of each array that holds one; `number` says which."""
    out = dict(arrays)
    for argument in work.arguments:
        only = argument.type.scalar
        if argument.name not in arrays or only is None or only.kind != "f":
            continue
        own = values(arrays[argument.name], argument.type, argument.type.fields[0])
        wide = to_float(own, only)
        where = np.flatnonzero(np.isnan(wide))
        others = wide[np.isfinite(wide)]
        if len(where) != 1 or not len(others):
            continue  # one that came with the data means something
        data = own.copy()
        data[where] = from_float(np.array([_other(others, number)]), only)
        out[argument.name] = np.ascontiguousarray(data).view(np.uint8).reshape(-1)
    return out


def _other(others: npt.NDArray[np.float64], number: int) -> float:
    """Return one of some numbers, one above them, or one below, as far as such may be there.

    Numbers of which none is below zero may be shares: they stay above zero, and up to one.
    """
    low, high = float(others.min()), float(others.max())
    beyond = BEYOND * (high - low)
    if number == FAR:
        return high + FAR_BEYOND * (high - min(low, 0.0))
    if number == 1:
        # Not zero, which would hide what it is multiplied by.
        some = others[others != 0]
        return float(some[len(some) // 2]) if len(some) else high
    if number == 2:
        return (1 + high) / 2 if low >= 0 and high <= 1 else high + beyond
    return low / 2 if low >= 0 else low - beyond
