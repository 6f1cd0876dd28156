"""Small factors beside numbers that are as large as they may be.

Long numbers are multiplied and reduced limb by limb. What is lost of a carry, or left out of a last
reduction, shows where a product comes to just below or just beyond a power of two: twice the
largest number does, and no product of random ones. One array holds rows that are two, all others
the ends of their ranges; sizes are those of a block or two of such code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from runners.cuda_types import values
from runners.families import ranges
from runners.inputs import Arrays, interleave
from runners.spec import Work
from runners.whole_numbers import row_lengths

FACTOR = 2
# Sizes of a block, in bytes or words; ranges from so many numbers on are parts of longer ones.
BLOCKS, LEAST_RANGE = (16, 64), 256
# So many arrays hold the factor in turns.
MOST_TURNS = 3


def usable(work: Work) -> list[tuple[str, int, int]]:
    """Return arrays of such parts, with the ends of their ranges."""
    every = [(a.name, low, high) for a, low, high in ranges(work)]
    wide = [one for one in every if one[2] - one[1] >= LEAST_RANGE - 1]
    return [one for one in wide if one[1] <= 0 and one[2] >= FACTOR]


def turns(work: Work) -> int:
    """Return how many arrays hold the factor in turns; none where nothing is multiplied with it."""
    found = usable(work)
    return min(MOST_TURNS, len(found)) if len(found) > 1 else 0


def cases(work: Work, middle: Mapping[str, float]) -> Iterator[Mapping[str, float]]:
    """Yield a case, and with each variable by itself as large as a block."""
    yield middle
    for name in sorted(work.variables):
        yield from ({**middle, name: float(block)} for block in BLOCKS if name in middle)


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of which one, by turns of the seed, holds rows of two, and others ends."""
    del family
    out = dict(arrays)
    names = usable(work)
    small = seed % max(1, turns(work))
    for turn, (name, _, high) in enumerate(names):
        argument = next(a for a in work.arguments if a.name == name)
        count = len(arrays[name]) // argument.type.size
        lengths = row_lengths(argument.shape or "1", case) or [count]
        parts = []
        for one in argument.type.fields:
            part = values(arrays[name], argument.type, one).copy()
            part[:] = np.array(0 if turn == small else high).astype(part.dtype)
            if turn == small:
                part[:: max(1, lengths[0] * one.lanes)] = FACTOR
            parts.append(part)
        out[name] = interleave(parts, argument.type, count)
    return out
