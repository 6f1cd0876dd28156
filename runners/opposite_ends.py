"""Whole numbers of which one array is near one end of its range, and all others near the other.

What is carried from place to place is often a difference: arrivals less departures, credits less
debits. Drawn at random its terms make up for each other, and it stays small at any length; in all
other families no more than `HOT` numbers of what may be indices are alike, and it ends there. A
sum in a float, or in 28 bits of a word, holds all of that. Here one array is low along all of it
and the others high, or one high and the others low; which one it is goes on from case to case
(`runners.opposed`). A single array whose numbers are below zero as well as above is a difference by
itself, and is low and high.

They are drawn from a sixteenth of their range, so that what is carried is odd and even by turns and
no more of them meet in one place than sixteen times as many as by chance: threads that exchange a
word until it holds take a time there that grows with their square. One in `APART` is anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from runners import piles
from runners.cuda_types import Field, values
from runners.families import OPPOSITE
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Work
from runners.whole_families import APART, Values

# A number is within such a part of its range from the end; of flags none is near another. What goes
# less far below zero, or above, is a mark that stands for none.
PART, LEAST_RANGE, LEAST_SIGNED = 16, 4, 8
LOW, HIGH = "low", "high"


def amounts(work: Work) -> list[Range]:
    """Return the arrays that are only read, of whole numbers with a range, and no keys or flags."""
    return [one for one in piles.amounts(work) if one[2] - one[1] + 1 >= LEAST_RANGE]


def signed(one: Range) -> bool:
    """Tell whether numbers of a range are as well below zero as above."""
    _, low, high = one
    return min(-low, high) * LEAST_SIGNED >= max(-low, high)


def turns(work: Work, number: int) -> Iterator[str]:
    """Yield two families for a case, of which one array's turn it is: low, and then high."""
    many = max(1, len(amounts(work)))
    yield from (f"{OPPOSITE} {number % many} {end}" for end in (LOW, HIGH))


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of which one is near the end that a family names, and others near the other."""
    del case
    _, which, end, *_ = family.split(" ")
    out = dict(arrays)
    for number, (argument, low, high) in enumerate(amounts(work)):
        upper = (number == int(which)) == (end == HIGH)
        rng = stream(seed, family, argument.name)
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field)
            made = near(field, low, high, len(data), rng, upper=upper)
            made[number % APART :: APART] = data[number % APART :: APART]
            parts.append(made)
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def near(
    field: Field, low: int, high: int, count: int, rng: np.random.Generator, *, upper: bool
) -> Values:
    """Return numbers within a part of a range from its last number, or from its first."""
    kind = np.dtype(field.scalar.dtype)
    most = -(-(high - low + 1) // PART)
    word = np.uint32 if most <= np.iinfo(np.uint32).max else np.uint64
    steps: npt.NDArray[np.generic] = rng.integers(0, most, count, dtype=word).astype(kind)
    end = np.asarray(high if upper else low).astype(kind)
    return np.asarray(end - steps if upper else end + steps)
