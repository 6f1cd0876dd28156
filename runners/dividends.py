"""Whole numbers that are multiples of a scalar, or one less, as where it is divided by.

A quotient that is made of a reciprocal is wrong at multiples alone, and mostly at those by powers
of two, or at the last ones of a range, where it is largest. Which originals are asked, and for
which values of which scalars, is in `runners.divisors`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import piles
from runners.cuda_types import values
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Work
from runners.whole_families import LEAST_WIDE, WIDEST

# Of eight numbers so many are as declared, any multiple, one by a power of two, one of the last.
KINDS = (4, 2, 1, 1)

Case = Mapping[str, float]
Values = npt.NDArray[Any]


def arrays_of(work: Work) -> Iterator[Range]:
    """Yield the arrays that are only read, of whole numbers with a range, and no keys."""
    for one in piles.read(work):
        argument, low, high = one
        wide = any(field.scalar.size >= LEAST_WIDE for field in argument.type.fields)
        if -WIDEST < low < high < WIDEST and not (wide and piles.is_key(work, one)):
            yield one


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays of which half are multiples of what a case has for the name behind a family."""
    by = int(case.get(family.partition(" ")[2], 0.0))
    out = dict(arrays)
    for argument, low, high in arrays_of(work):
        if by < 1 or high // by < -(-low // by):
            continue  # there is no multiple in its range
        rng = stream(seed, family, argument.name)
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            kinds = np.repeat(np.arange(len(KINDS)), KINDS)[rng.integers(0, sum(KINDS), len(data))]
            made = _multiples(by, (low, high), kinds, rng)
            parts.append(np.where(kinds == 0, data, made.astype(data.dtype)))
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _multiples(
    by: int, bounds: tuple[int, int], kinds: Values, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    low, high = bounds
    count = len(kinds)
    first, last = -(-low // by), high // by
    times = rng.integers(first, last, count, endpoint=True)
    powers = np.int64(1) << rng.integers(0, max(1, last.bit_length()), count)
    times = np.where((kinds == 2) & (powers >= first) & (powers <= last), powers, times)
    end = last - rng.integers(0, min(4, last - first + 1), count)
    times = np.where(kinds == 3, end, times)
    found = times * by - (rng.integers(0, 4, count) == 0)
    return np.asarray(np.clip(found, low, high), np.int64)
