"""Whole numbers that a candidate's own product leads to one place of a table.

A table by the first bits of `key * 2654435769u` has keys that are drawn in all of its places, and
so it has multiples of a power of two and numbers in a row: nobody needs more than a few looks. Who
gives up after 16 or 64 of them, or has room for as many, is right for all of these. An odd factor
has an inverse modulo a power of two: multiples of that by 0, 1, 2, ... have products that small,
and as many of them as one likes are looked for in one place, however large the table.

Keys stay within their declared range; where that is so narrow that it has
few such multiples, those are taken whose products are nearest to each other. A row has them in any
order, and every other row each of them twice. There are few of them (`MANY`), since who looks on
until there is a free place is right, and takes the square of that.

Which factors are asked about is in `runners.slot_factors`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.axes import axes
from runners.cuda_types import values
from runners.families import ONE_SLOT, ranges
from runners.inputs import Arrays, stream
from runners.spec import Argument, Work

# Keys that meet, rows that have them, and how wide a range is at least.
MANY, ROWS, WIDE = 1024, 64, 1 << 16
# Multiples or keys that are looked at, and how many of those have to be in a range.
LOOKED_AT, FEW = 1 << 20, 256
HALF, WHOLE = 32, 64

Case = Mapping[str, float]
Values = npt.NDArray[Any]


def keys(work: Work) -> Iterator[tuple[Argument, int, int]]:
    """Yield arrays of plain numbers of a wide range, with its first and last number."""
    for argument, low, high in ranges(work):
        if argument.type.scalar is not None and high - low >= WIDE:
            yield argument, low, high


def meeting(factor: int, low: int, high: int) -> Values:
    """Return numbers of a range, ends included, whose products with a factor lead to one place.

    >>> [int(one) * 2654435769 % 2**32 for one in meeting(2654435769, 0, 2**32 - 1)[:4]]
    [0, 1, 2, 3]
    """
    bits = HALF if factor < 1 << HALF else WHOLE
    modulus, width = 1 << bits, high - low + 1
    inverse = np.uint64(pow(factor, -1, modulus))
    mask = np.uint64(modulus - 1)
    multiples = np.arange(LOOKED_AT, dtype=np.uint64) * inverse & mask
    beyond = (multiples - np.uint64(low % modulus)) & mask
    near = beyond[beyond < np.uint64(min(width, modulus - 1))][:MANY]
    if len(near) < min(FEW, width):
        step = max(1, width // LOOKED_AT)
        all_of_them = np.arange(min(width, LOOKED_AT), dtype=np.uint64) * np.uint64(step)
        products = (all_of_them + np.uint64(low % modulus)) * np.uint64(factor) & mask
        order = np.argsort(products, kind="stable")
        there = products[order]
        many = min(MANY, len(order))
        first = int(np.argmin(there[many - 1 :] - there[: len(there) - many + 1]))
        near = all_of_them[order[first : first + many]]
    return np.asarray(near.astype(object) + low)


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays of keys of a wide range that meet where a factor leads them."""
    factor, out = int(family.partition(" ")[2]), dict(arrays)
    for argument, low, high in keys(work):
        if argument.name not in arrays:
            continue
        kind = argument.type
        data = values(arrays[argument.name], kind, kind.fields[0]).copy()
        row = next((line for line, _ in axes(argument, case)), 0)
        if row < 2 or len(data) % row:
            continue
        those = meeting(factor, low, high).astype(data.dtype)
        rows, rng = data.reshape(-1, row), stream(seed, ONE_SLOT, argument.name)
        for number, line in enumerate(rows[:ROWS]):
            many = min(len(those), row)
            some = those[: many // 2 or 1] if number % 2 else those[:many]
            line[rng.permutation(row)[:many]] = rng.permutation(np.resize(some, many))
        out[argument.name] = np.ascontiguousarray(rows).view(np.uint8).reshape(-1)
    return out
