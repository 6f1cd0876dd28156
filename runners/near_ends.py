"""Whole numbers at any distance from an end of their range, as many of them near it as far off.

What goes wrong for the largest of numbers alone, as a reciprocal that is rounded up does for one
dividend of a million beyond 2⁴⁵, is met by one number in some million that are large; and chance
draws few that are, all of several arrays at once. Nor does it draw many small ones: of two hundred
seeds in a pit there are a few in one of forty. Here each array has an end of its own, or both, and
its numbers are as far from there as two to the power of any exponent. It is run original and
candidate side by side (`runners.fuzzing`), also where sizes are as large as they may be
(`runners.far_cases`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from runners import piles
from runners.cuda_types import values
from runners.families import ranges
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Work
from runners.whole_families import WIDEST

WORD = "near ends"
# The least range, in numbers; how often an array stays as it is, and which end is its own.
LEAST_RANGE, STAYS = 16, 0.15
LOW, HIGH, BOTH = range(3)
ENDS = (LOW, LOW, HIGH, HIGH, BOTH)

Case = Mapping[str, float]
Places = npt.NDArray[np.int64]


def arrays(work: Work) -> list[Range]:
    """Return the arrays that are changed: whole numbers of a range that is no few."""
    inside = (one for one in ranges(work) if one[1] > -WIDEST and one[2] < WIDEST)
    return [one for one in inside if one[2] - one[1] >= LEAST_RANGE - 1]


def usable(work: Work) -> bool:
    """Tell whether there is any such array."""
    return bool(arrays(work))


def applied(work: Work, arrays_: Arrays, seed: int, turn: int, case: Case) -> Arrays:
    """Return arrays of whole numbers most of which are near an end of their range."""
    out = dict(arrays_)
    for one in arrays(work):
        argument, low, _ = one
        rng = stream(seed, WORD, turn, argument.name)
        if argument.name not in arrays_ or rng.random() < STAYS:
            continue
        end, high = ENDS[int(rng.integers(len(ENDS)))], piles.last(one, case)
        parts = []
        for field in argument.type.fields:
            data = values(arrays_[argument.name], argument.type, field)
            parts.append(_made((low, high), end, len(data), rng).astype(data.dtype))
        count = len(arrays_[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _made(ends: tuple[int, int], end: int, count: int, rng: np.random.Generator) -> Places:
    """Return numbers of a range whose distances from one of its ends are of any size alike."""
    low, high = ends
    span = max(0, high - low)
    apart = np.exp(rng.random(count) * np.log(span + 1.0)) - 1.0
    # From the last of one size to the first of the next there are all numbers: no powers alone.
    distance: Places = np.minimum(apart + rng.random(count), span).astype(np.int64)
    upper = rng.random(count) < 0.5 if end == BOTH else np.full(count, end == HIGH)
    return np.where(upper, high - distance, low + distance)
