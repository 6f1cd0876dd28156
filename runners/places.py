"""Places of an array at which faults hide: where blocks meet, and where few look.

Families of floats and of whole numbers put what they are about at the same ones.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

# Looks at some elements have a step; none of some thousand looks or of more, at numbers or at
# vectors of two or four, meets the one element where that can be helped. Nor does one of a power of
# two of looks that are the same share of the array apart.
FEWEST_LOOKS, MOST_STEP, MOST_TRIED = 1 << 10, 64, 4096
SHARES = tuple(1 << bits for bits in range(4, 13))
LEAST_BLOCK, MOST_BLOCK = 32, 4096
Values = npt.NDArray[Any]


def boundary(count: int, rng: np.random.Generator) -> int:
    """Choose a multiple of the largest power of two that fits twice, 4096 at most; 0 for none."""
    if count < 2 * LEAST_BLOCK:
        return 0
    step = min(MOST_BLOCK, 1 << ((count // 2).bit_length() - 1))
    return step * int(rng.integers(1, (count - 1) // step + 1))


def aside(count: int, rng: np.random.Generator) -> int:
    """Choose a place in the middle half where few look who do not look everywhere; 0 for none."""
    low, high = max(1, count // 4), min(count - 1, count - count // 4)
    if low >= high:
        return 0
    tried, most = rng.integers(low, high, MOST_TRIED), min(MOST_STEP, 2 + count // FEWEST_LOOKS)
    least = np.full(len(tried), most + 1)
    for step in range(most, 1, -1):
        for group in (tried, tried >> 1, tried >> 2):
            least[(group % step == 0) & (group > 0)] = step
    for looks in (looks for looks in SHARES if 2 * looks <= count):
        number = -(-tried * looks // count)
        least[number * count // looks == tried] = 1
    return int(tried[least.argmax()])


def swapped(data: Values, rng: np.random.Generator) -> Values:
    """Swap the elements of two places where few look."""
    at, other = (aside(len(data), rng) for _ in range(2))
    out = data.copy()
    out[[at, other]] = out[[other, at]]
    return out
