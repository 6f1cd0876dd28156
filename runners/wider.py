"""Whole numbers from a wider range than the declared one, in one array at a time.

A declared range is part of what a workload declares: code made for it is right. Wider ones are
drawn from only to say so (`runners.other_ranges`), in a few steps up to all of the type's. Nothing
is below zero where nothing was; where something was, as many times as much is. What stands beside
it is as declared, or all alike: of letters drawn at random hardly any row is well-formed for long,
and how long it may be is of no consequence then.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.families import ranges
from runners.inputs import Arrays, interleave, stream
from runners.spec import Argument, Work

# By how many times the declared end is exceeded, before all of the type's; of bytes the first.
TIMES = (2, 64, 1 << 16)
# Of so many numbers one is the last, and one the first where that is below zero.
OF = 16
_WORD, _ALIKE = "wider", " alike"
_FAMILY = re.compile(rf"{_WORD} (\w+) to (\d+)({_ALIKE})?")


@dataclass(frozen=True, slots=True)
class Wider:
    """Which array has a wider range, and up to which number; `alike`: all others are one number."""

    name: str
    last: int
    alike: bool = False

    @property
    def family(self) -> str:
        """Name the family of inputs that have this range, and all else as declared or alike.

        >>> Wider("counts", 118).family, Wider("counts", 118, alike=True).family
        ('wider counts to 118', 'wider counts to 118 alike')
        """
        return f"{_WORD} {self.name} to {self.last}{_ALIKE if self.alike else ''}"


def wider(family: str) -> Wider | None:
    """Return the range that a family has; None for any other family.

    >>> wider("wider counts to 118"), wider("declared")
    (Wider(name='counts', last=118, alike=False), None)
    """
    found = _FAMILY.fullmatch(family)
    return Wider(found[1], int(found[2]), found[3] is not None) if found else None


def beyond(family: str, other: str) -> bool:
    """Tell whether a family's range is that of the same array as another's, and no narrower.

    >>> beyond("wider x to 64", "wider x to 2"), beyond("wider x to 64", "wider y to 2")
    (True, False)
    """
    one, before = wider(family), wider(other)
    if one is None or before is None:
        return False
    return one.name == before.name and one.last >= before.last


def steps(last: int, most: int, size: int) -> tuple[int, ...]:
    """Return the ends of wider ranges than one that ends at `last`, of a type of so many bytes.

    >>> steps(59, 2**31 - 1, 4), steps(16, 255, 1), steps(255, 255, 1)
    ((118, 3776, 3866624, 2147483647), (32, 255), ())
    """
    if not 0 < last < most:
        return ()
    times = TIMES if size > 1 else TIMES[:1]
    return (*(last * by for by in times if last * by < most), most)


def tried(argument: Argument, low: int, last: int) -> tuple[int, ...]:
    """Return the ends of wider ranges of an array whose declared one has these two."""
    scalars = [field.scalar for field in argument.type.fields]
    # What is below zero, too, is drawn in 64 bits with a sign.
    most = [int(np.iinfo(np.int64 if low < 0 else np.uint64).max)]
    most += [int(np.iinfo(one.dtype).max) for one in scalars]
    return steps(last, min(most), min(one.size for one in scalars))


def first(low: int, last: int, to: int) -> int:
    """Return the first number of a range up to another one, of which two ends are declared.

    >>> first(0, 59, 118), first(3, 59, 118), first(-100, 99, 198), first(-1000, 1, 127)
    (0, 3, -198, -127)
    """
    return low if low >= 0 else max(-to, low * -(-to // max(1, last)))


def applied(which: Wider, work: Work, arrays: Arrays, seed: int) -> Arrays:
    """Return arrays of which one has numbers of all sizes up to the end of a wider range."""
    out = dict(arrays)
    rng = stream(seed, Wider(which.name, which.last).family)
    for argument, low, last in ranges(work):
        count = len(arrays[argument.name]) // argument.type.size
        lengths = [(field.scalar.dtype, count * field.lanes) for field in argument.type.fields]
        if argument.name == which.name:
            ends = (first(low, last, which.last), which.last)
            times = which.last // max(1, last)
            parts = [_drawn(rng, ends, times, length).astype(dtype) for dtype, length in lengths]
        elif which.alike and not argument.written:
            # One, where that is a number of the range: zeros often end what is read.
            number = min(last, max(low, 1))
            parts = [np.full(length, number).astype(dtype) for dtype, length in lengths]
        else:
            continue
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _drawn(
    rng: np.random.Generator, ends: tuple[int, int], times: int, count: int
) -> npt.NDArray[Any]:
    """Draw numbers, half of them anywhere, others as far down as the declared ones are.

    What is an index leaves its buffer by a little then, and not by so much that nobody sees it.
    """
    low, last = ends
    dtype = np.dtype(np.int64 if low < 0 else np.uint64)
    drawn: npt.NDArray[Any] = rng.integers(low, last, count, dtype=dtype, endpoint=True)
    shifts = rng.integers(0, times.bit_length(), count, endpoint=True)
    shifts[rng.random(count) < 0.5] = 0
    np.maximum(drawn >> shifts.astype(dtype), dtype.type(low), out=drawn)
    which = rng.integers(0, OF, count)
    drawn[which == 0] = last
    if low < 0:
        drawn[which == 1] = low
    return drawn
