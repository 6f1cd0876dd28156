"""Bytes beyond a declared range, where an original makes nothing but sums of them.

Costs that are declared below 64 make sums that fit into a byte, and an original that adds them up
in 32 bits is right for all of them. That is a guess, as with ranges that follow a size
(`runners.following`): it is made of what the original's text does with the bytes
(`runners.summed`), the original is asked first and last of all, and what it does not define there
is asked of nobody. Nothing here raises.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from runners.cuda_types import values
from runners.families import EVERY_BYTE, captured_work, ranges
from runners.inputs import Arrays, interleave, stream
from runners.spec import Argument, Work

# Ranges of fewer numbers are flags, letters, levels and codes of few bits; of more than half of the
# type's there is one number that is left out, as -128 is, and means something.
LEAST_NUMBERS, MOST_NUMBERS = 33, 128
# Of so many elements one is the last, and one the first; the others are anywhere.
OF = 8


def widened(work: Work) -> Iterator[tuple[Argument, int, int]]:
    """Yield arrays of bytes that are only summed up, with the first and last number of their type.

    Nothing is below zero where nothing was; as much is as above where as much was.
    """
    if captured_work(work):
        return
    for argument, low, last in ranges(work):
        kind = argument.type.scalar
        if kind is None or kind.size != 1 or argument.name not in work.summed:
            continue
        if low > 0 or not LEAST_NUMBERS <= last - low + 1 <= MOST_NUMBERS:
            continue
        least, most = int(np.iinfo(kind.dtype).min), int(np.iinfo(kind.dtype).max)
        first = 0 if low == 0 else (-most if low == -last else least)
        yield argument, first, most


def applied(work: Work, arrays: Arrays, seed: int) -> Arrays:
    """Return arrays whose bytes are of the whole range of their type, many at its ends."""
    out = dict(arrays)
    for argument, first, last in widened(work):
        name, kind = argument.name, argument.type
        rng = stream(seed, EVERY_BYTE, name)
        count = len(values(arrays[name], kind, kind.fields[0]))
        which = rng.integers(0, OF, count)
        drawn = rng.integers(first, last, count, endpoint=True)
        drawn[which == 0], drawn[which == 1] = last, first
        part = drawn.astype(kind.fields[0].scalar.dtype)
        out[name] = interleave([part], kind, len(arrays[name]) // kind.size)
    return out
