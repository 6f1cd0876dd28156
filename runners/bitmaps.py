"""Whole numbers that may be bitmaps: long stretches of no bit, and of all of them.

Of words that are drawn from all there are, half of the bits are set nearly everywhere: a count of
set or unset bits in twelve bits is then as good as any.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from runners.cuda_types import values
from runners.families import ranges
from runners.inputs import Arrays, interleave, stream
from runners.spec import Argument, Work

# Words of so many bytes, of a range that is half of all there are at least.
LEAST_BYTES = 4
# Of so many parts of an array the last stays as it was.
PARTS = 24


def wide(work: Work) -> Iterator[tuple[Argument, int, int]]:
    """Yield arrays of words that may have any of their bits set, with what has none and all."""
    for argument, low, high in ranges(work):
        bits = 8 * min(one.scalar.size for one in argument.type.fields)
        if bits >= 8 * LEAST_BYTES and low <= 0 <= high and high - low >= 2 ** (bits - 1) - 2:
            yield argument, 0, -1 if low < 0 else high


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays with a stretch of words without bits and one of words with all of them."""
    del case
    out = dict(arrays)
    for argument, none, every in wide(work):
        rng = stream(seed, family, argument.name)
        data = arrays[argument.name]
        parts = []
        for one in argument.type.fields:
            part = values(data, argument.type, one).copy()
            end = len(part) - len(part) // PARTS
            # From the first on: what an array is taken apart into is nearly as long at times.
            turn = int(end * rng.uniform(0.92, 0.96))
            part[:turn] = np.array(none).astype(part.dtype)
            part[turn:end] = np.array(every).astype(part.dtype)
            parts.append(part)
        out[argument.name] = interleave(parts, argument.type, len(data) // argument.type.size)
    return out
