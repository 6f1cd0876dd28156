"""Few whole numbers of a wide range beside its end: counters, nonces, seeds and keys.

A counter of 64 bits in two words of 32 hands something on from one to the other once in four
thousand million steps: of words that are drawn at random one in ten thousand is so near its end
that a case gets there. An array of two words has one of its ends by each of them
(`runners.whole_families.at_ends`), and it is the other one that counts. So each of them is put
there by itself, and all of them together: at the last number, and below it by fewer steps than
there are in a case. All of it is within the declared range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from runners import sizes
from runners.cuda_types import values
from runners.families import BRINK, ranges
from runners.inputs import Arrays, interleave, stream
from runners.spec import Work
from runners.whole_families import LEAST_WIDE, MOST_INDEXED

# Elements of an array that is a key, a nonce or a counter, and how many of them are taken alone.
MOST_PLACES, MOST_ALONE = 64, 8
# Elements of a case for a step of a counter at least: a block of a cipher is 64 bytes.
ELEMENTS_A_STEP = 64
# What all of them are together: at the last number, below it, and below where a shorter word ends.
LAST, BELOW, SHORTER = range(3)
TOGETHER = (LAST, BELOW, SHORTER)


@dataclass(frozen=True, slots=True)
class Place:
    """One whole number of an array: the argument's name, its field, and where it is in that."""

    name: str
    field: int
    at: int
    low: int
    last: int
    bits: int

    def near(self, how: int, before: int, steps: int) -> int:
        """Return a number near an end, so many steps before it; `before` where the range has none.

        A shorter word is the lower half of 64 bits, the upper half of which stays as it is, and of
        others what has no sign.
        """
        if how != SHORTER:
            found = self.last - (steps if how == BELOW else 0)
        elif self.bits > 32:
            found = (before >> 32 << 32) + (1 << 32) - 1 - steps
        else:
            found = (1 << 31) - 1 - steps
        return found if self.low <= found <= self.last else before


def turns(work: Work, case: Mapping[str, float]) -> int:
    """Return in how many ways few wide numbers of a case are near an end: seeds that follow on."""
    every = _places(work, case)
    alone = min(len(every), MOST_ALONE) if len(every) > 1 else 0
    return len(TOGETHER) + alone if every else 0


def applied(work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]) -> Arrays:
    """Return arrays of which few wide numbers are near an end, one alone or all of them."""
    many = turns(work, case)
    if not many:
        return arrays
    every, turn = _places(work, case), seed % many
    how = turn
    if turn >= len(TOGETHER):
        every = every[turn - len(TOGETHER) :][:1]
        how = SHORTER if every[0].bits > 32 else BELOW
    rng = stream(seed, BRINK)
    steps = max(1, sizes.elements(work, case) // ELEMENTS_A_STEP)
    out = dict(arrays)
    for argument in work.arguments:
        mine = [one for one in every if one.name == argument.name]
        if not mine:
            continue
        kind, data = argument.type, arrays[argument.name]
        parts = [values(data, kind, field).copy() for field in kind.fields]
        for one in mine:
            part = parts[one.field]
            # As often a few steps as many: what is worked on by one thread, and by all.
            back = int(math.exp(rng.uniform(0.0, math.log(steps + 1.0))))
            part[one.at] = np.asarray(one.near(how, int(part[one.at]), back)).astype(part.dtype)
        out[argument.name] = interleave(parts, kind, len(data) // kind.size)
    return out


def _places(work: Work, case: Mapping[str, float]) -> list[Place]:
    """Return the wide numbers of short arrays: of all of these the first, the last, and so on.

    The shortest array comes first: a counter is shorter than a key.
    """
    found: list[tuple[int, int, Place]] = []
    for argument, low, last in ranges(work):
        fields = argument.type.fields
        count = sizes.buffer(argument, case)
        length = count * sum(field.lanes for field in fields)
        if last - low < MOST_INDEXED or not 0 < length <= MOST_PLACES:
            continue
        for number, field in enumerate(fields):
            if field.scalar.size < LEAST_WIDE:
                continue
            many = count * field.lanes
            for at in range(many):
                rank = min(2 * at, 2 * (many - 1 - at) + 1)
                bits = 8 * field.scalar.size
                found.append((rank, length, Place(argument.name, number, at, low, last, bits)))
    return [place for *_, place in sorted(found, key=lambda one: one[:2])]
