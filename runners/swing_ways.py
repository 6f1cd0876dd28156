"""The ways in which a line of whole numbers swings, as offsets from the first of their range.

By one at a time a swing takes as many numbers as the range has, and the next one begins behind it;
in a shorter line, and where a swing is to take all of a line, its steps are as large, or as seldom,
as the line has room for. What arrays have of them is in `runners.swings`.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isqrt

import numpy as np
import numpy.typing as npt

# Numbers of a swing at least, whatever is left for it.
LEAST_SWING = 4

Offsets = npt.NDArray[np.uint64]


def _parts(number: int, of: int, places: Offsets) -> Offsets:
    """Return a number times places, divided by so many, where the product may not fit."""
    whole, rest = divmod(number, max(1, of))
    return places * np.uint64(whole) + places * np.uint64(rest) // np.uint64(max(1, of))


def _outward(length: int, width: int) -> Offsets:
    """Return swings from the middle up to both ends: by one, where as many as there are numbers.

    >>> _outward(8, 8).tolist(), _outward(5, 101).tolist()
    ([3, 4, 2, 5, 1, 6, 0, 7], [50, 75, 25, 100, 0])
    """
    at = np.arange(length, dtype=np.uint64)
    middle = (width - 1) // 2
    out = (at + np.uint64(1)) // np.uint64(2)
    above = np.uint64(middle) + _parts(width - 1 - middle, length // 2, out)
    return np.where(at % 2, above, np.uint64(middle) - _parts(middle, (length - 1) // 2, out))


def _inward(length: int, width: int) -> Offsets:
    return _outward(length, width)[::-1]


def _out_and_in(length: int, width: int) -> Offsets:
    half = _outward((length + 1) // 2, width)
    return np.concatenate((half, half[-2::-1]))


def _full(_length: int, width: int) -> Offsets:
    return np.array([0, width - 1], np.uint64)


def _rise(length: int, width: int) -> Offsets:
    """Return a rise all along, and a fall at its end."""
    made = _parts(width - 1, length - 2, np.arange(length, dtype=np.uint64))
    made[-1] = 0
    return made


def _fall(length: int, width: int) -> Offsets:
    return np.uint64(width - 1) - _rise(length, width)


def _valley(length: int, width: int) -> Offsets:
    """Return numbers whose steps grow by the same from one to the next, on both sides.

    >>> _valley(9, 11).tolist()
    [10, 6, 3, 1, 0, 1, 3, 6, 10]
    """
    half = max(2, min(length // 2, (isqrt(8 * (width - 1) + 1) - 1) // 2))
    at = np.arange(half + 1, dtype=np.uint64)
    side = (
        at
        * (at + np.uint64(1))
        // np.uint64(2)
        * np.uint64(max(1, (width - 1) // (half * (half + 1) // 2)))
    )
    return np.concatenate((side[:0:-1], side))


def _hill(length: int, width: int) -> Offsets:
    return np.uint64(width - 1) - np.minimum(_valley(length, width), np.uint64(width - 1))


Way = Callable[[int, int], Offsets]
# What a line is like, how many widths of its range one swing takes (none: all of the line), and how
# often each number comes. Those that find most come first.
WAYS: tuple[tuple[Way, int, int], ...] = (
    (_full, 1, 1),
    (_out_and_in, 2, 1),
    (_inward, 1, 1),
    (_outward, 1, 1),
    (_out_and_in, 0, 1),
    (_inward, 0, 1),
    (_rise, 1, 1),
    (_fall, 0, 1),
    (_out_and_in, 2, 2),
    (_rise, 0, 1),
    (_fall, 1, 1),
    (_inward, 1, 2),
    (_valley, 0, 1),
    (_hill, 0, 1),
    (_outward, 0, 2),
)
# Behind them one that is as it was drawn.
ALL = len(WAYS) + 1


def made(way: int, length: int, width: int) -> Offsets:
    """Return a line of a way, as offsets from the first number of a range."""
    shape, widths, times = WAYS[way]
    each = -(-length // times)
    by_one = 0 < widths * width <= each
    once = shape(widths * width if by_one else max(LEAST_SWING, each), width)
    return np.resize(np.repeat(once, times), length)
