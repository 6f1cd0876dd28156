"""Numbers in the place of a NaN among the inputs.

What changes with none of them does not depend on the NaN (`runners.regardless`). A larger number
than all others and a smaller one are among them: a largest or a smallest is one of few. Of what is
worked out of several elements first, a smoothed one or a difference, they need not be the largest:
that is what numbers are for which are farther off than all that is made of the others.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from runners.cuda_types import from_float, to_float, values
from runners.inputs import Arrays
from runners.spec import Work

# Floats that may be any number, for all their declaration says: no shares, and no whole numbers.
ORDINARY = "normal"
# So many in turn: one of the others, a larger one, a smaller one; and one far above all, for
# results of so few digits that no other one shows in a sum.
NUMBERS, FAR = 3, 4
# And two farther off than anything worked out of the others, above and below, as far as all of an
# array are in the family `families.FAR`: who is wrong for such a number is so without a NaN.
# Shares hold one of their own meanwhile.
ABOVE_EVERY, BELOW_EVERY = 5, 6
FARTHEST = (ABOVE_EVERY, BELOW_EVERY)
# Beyond the others by this share of their spread: enough to be the largest, and no outlier.
BEYOND, FAR_BEYOND, FARTHEST_BEYOND = 0.125, 64.0, 2.0**20
# Of halves not as far, which have no larger ones to add up.
FARTHEST_HALF = 256.0


def goes_far(work: Work) -> bool:
    """Tell whether a number farther off than all others may be put into any array."""
    return any(
        argument.type.pointer and argument.role != "output" and argument.init == ORDINARY
        for argument in work.arguments
    )


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
        other = _other(others, number)
        if number in FARTHEST and argument.init == ORDINARY:
            times = FARTHEST_HALF if only.name == "half" else FARTHEST_BEYOND
            far = times * max(float(np.ptp(others)), float(np.abs(others).max()))
            other = far if number == ABOVE_EVERY else -far
        data[where] = from_float(np.array([other]), only)
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
    if number == 1 or number in FARTHEST:
        # Not zero, which would hide what it is multiplied by.
        some = others[others != 0]
        return float(some[len(some) // 2]) if len(some) else high
    if number == 2:
        return (1 + high) / 2 if low >= 0 and high <= 1 else high + beyond
    return low / 2 if low >= 0 else low - beyond
