"""What memory holds before a run: all ones, or words that a number decides, as the device's do."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from runners.cuda_types import Storage

NAN_POISON = 2**64 - 1
_AT_ONCE = 1 << 15


def _mix(x: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Scramble words in their place; the device's `mix`."""
    with np.errstate(over="ignore"):
        x += np.uint64(0x9E3779B97F4A7C15)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            x ^= x >> np.uint64(shift)
            x *= np.uint64(factor)
        x ^= x >> np.uint64(31)
    return x


def pattern(offset: int, size: int, poison: int, slab: int = 0) -> Storage:
    """Return the poison of a slab's bytes from `offset` on, as the device writes it."""
    if poison == NAN_POISON:
        return np.full(size, 0xFF, np.uint8)
    own = _mix(np.array([poison + slab], np.uint64)) >> np.uint64(1)
    return keystream(offset, size, int(own[0]))


def keystream(offset: int, size: int, key: int) -> Storage:
    """Return pattern bytes of a key from `offset` on: the device's `pattern`."""
    first, last = offset // 16, (offset + size + 15) // 16
    numbers = np.arange(first * 2, last * 2, dtype=np.uint64)
    numbers ^= np.uint64(key)
    for start in range(0, len(numbers), _AT_ONCE):  # what fits into a core's cache
        _mix(numbers[start : start + _AT_ONCE])
    return numbers.view(np.uint8)[offset - first * 16 :][:size]
