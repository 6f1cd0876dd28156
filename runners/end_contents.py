"""What amounts are like near the ends of their ranges, all together, and row by row in mixtures.

What is near an end is the last number or the one before it, odd ones mostly: a sum of even ones
fits into a float far beyond 2^24. Of what may be an index, and is longer than may be alike, they
are within a part of the range, as in `runners.opposite_ends`.

And where rows are long, each is another mixture of both ends (`DENSITIES`): drawn rows are all as
dense as each other, so that what is made of their sums runs over alike, or nowhere, and keeps its
order. Where a range goes below zero, which may be a mark for none, the lower end is zero by turns.

Which originals are asked about them, and in which cases, is in `runners.long_ends`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from runners import opposite_ends, piles, sizes
from runners.cuda_types import Field, values
from runners.inputs import Arrays, interleave, stream
from runners.opposite_ends import HIGH
from runners.piles import Range
from runners.spec import Work
from runners.whole_families import Values, alike
from runners.whole_numbers import row_lengths

# One in so many is the even one of the last two numbers.
EVEN = 8
# Parts of the higher end a row may have, and from row to row, and from array to array, how many
# parts more: all of them are met in nine rows.
PARTS, NEXT_ROW, NEXT_ARRAY = 8, 5, 2


def row(one: Range, case: Mapping[str, float]) -> int:
    """Return the length of an array's rows; all of it where it has none."""
    argument = one[0]
    return next(iter(row_lengths(argument.shape or "1", case)), sizes.buffer(argument, case))


def turns(work: Work) -> int:
    """Return how many ways there are to mix both ends."""
    return 1 + any(low < 0 < high for _, low, high in piles.amounts(work))


def ends(family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]) -> Arrays:
    """Return amounts that are all near their last numbers, or all near their first ones."""
    del case
    out = dict(arrays)
    for argument, low, high in opposite_ends.amounts(work):
        rng = stream(seed, family, argument.name)
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field)
            upper = family.endswith(HIGH)
            parts.append(_beside(field, low, high, len(data), rng, upper=upper))
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _beside(
    field: Field, low: int, high: int, count: int, rng: np.random.Generator, *, upper: bool
) -> Values:
    if alike(field, low, high, count) < count:
        return opposite_ends.near(field, low, high, count, rng, upper=upper)
    first, second = (high, high - 1) if upper else (low, low + 1)
    odd, even = (first, second) if first % 2 else (second, first)
    kind = np.dtype(field.scalar.dtype)
    some = rng.integers(0, EVEN, count) == 0
    return np.asarray(np.where(some, np.asarray(even).astype(kind), np.asarray(odd).astype(kind)))


def densities(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return amounts of which each row has another part near the last number, others at the first.

    In the second turn at zero, where a range goes below it.
    """
    out = dict(arrays)
    above = family.endswith("1")
    for number, (argument, low, high) in enumerate(piles.amounts(work)):
        rng = stream(seed, family, argument.name)
        least = piles.within(0, low, high) if above else low
        count = len(arrays[argument.name]) // argument.type.size
        number_of = np.arange(count) // max(1, row((argument, low, high), case))
        share = (number_of * NEXT_ROW + number * NEXT_ARRAY) % (PARTS + 1) / PARTS
        parts = []
        for field in argument.type.fields:
            many = count * field.lanes
            upper = rng.random(many) < np.repeat(share, field.lanes)
            top = opposite_ends.near(field, least, high, many, rng, upper=True)
            bottom = opposite_ends.near(field, least, high, many, rng, upper=False)
            parts.append(np.asarray(np.where(upper, top, bottom)))
        out[argument.name] = interleave(parts, argument.type, count)
    return out
