"""Whole numbers in shapes that chance does not make: chains, a late stretch, a maze, brackets.

What halves the way to a root a fixed number of times is right for trees that grew by chance, and
wrong for one long branch. What decides before it has seen all is right until the last half of a
row is for one candidate, and what fills a fixed number of rounds is right where no way is long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import nested, sizes, whole_numbers
from runners.cuda_types import values
from runners.families import AFTER, BEFORE, LATE, NESTED, ranges
from runners.inputs import Arrays, interleave, stream
from runners.spec import Argument, Work
from runners.whole_families import HOT, LEAST_WIDE

# What part of a row is late: less than half, so that it is no majority.
LATE_PART, OF = 9, 20
# A maze has tiles of so many cells each way, as blocks have threads, and a side at least of a tile.
TILE = 32
# Places are no further than this: differences of two are numbers of 64 bits.
FARTHEST = 1 << 61

Values = npt.NDArray[Any]


def linked(work: Work) -> bool:
    """Tell whether there are whole numbers that may be places, each of what is next to it."""
    return any(_wide(argument) for argument, _, _ in ranges(work))


def mazes(work: Work, case: Mapping[str, float]) -> int:
    """Return how many mazes there may be in pictures of whole numbers: seeds that follow on."""
    return 2 * max((len(_widths(argument, case)) for argument, _, _ in ranges(work)), default=0)


def shaped(family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]) -> Arrays:
    """Return arrays whose whole numbers with a range have a shape, one of `SHAPED`.

    A maze's ways go up and down, or to and fro where `seed` is odd. Of two seeds that follow on
    two, the second two take the other factor of a picture's shape for its width.
    """
    out = dict(arrays)
    for argument, low, high in ranges(work):
        make: Callable[[Values], Values]
        if family in {BEFORE, AFTER}:
            if not _wide(argument):
                continue
            make = partial(_chain, low=low, high=high, by=-1 if family == BEFORE else 1)
        elif family == LATE:
            lengths = whole_numbers.row_lengths(argument.shape or "1", case)
            rng = stream(seed, family, argument.name)
            make = partial(_late, lengths=lengths, rng=rng)
        elif family == NESTED:
            make = partial(
                nested.made, argument=argument, ends=(low, high), work=work, seed=seed, case=case
            )
        else:
            widths = _widths(argument, case)
            if not widths:
                continue
            width, turned = widths[seed // 2 % len(widths)], bool(seed % 2)
            make = partial(_maze, width=width, ends=(low, high), turned=turned)
        parts = [
            make(values(arrays[argument.name], argument.type, field).copy())
            for field in argument.type.fields
        ]
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _wide(argument: Argument) -> bool:
    return all(field.scalar.size >= LEAST_WIDE for field in argument.type.fields)


def _widths(argument: Argument, case: Mapping[str, float]) -> list[int]:
    """Return what may be the width of a picture that is a tile wide and high at least.

    That is the last factor of its shape, and the first: who writes `w*h` has rows of `w`, too. Of
    what may be indices no more than `HOT` are the same (`runners.whole_families`).
    """
    lengths = whole_numbers.row_lengths(argument.shape or "1", case)
    count = sizes.buffer(argument, case)
    few = not _wide(argument) or count <= HOT
    if not lengths or not few or argument.type.scalar is None:
        return []
    widths = [lengths[0], *([count // lengths[0]] if len(lengths) == 1 else [])]
    return [one for one in dict.fromkeys(widths) if one >= TILE and count // one >= TILE]


def _chain(data: Values, low: int, high: int, by: int) -> Values:
    """Return the place beside each element's own, within the range; the first has none before."""
    low, high = max(low, -FARTHEST), min(high, FARTHEST)
    if low > high:
        return data  # Nothing there is a place.
    at = np.arange(len(data), dtype=np.int64) + by
    at = np.maximum(at, low) if by < 0 else at
    span = high - low + 1
    return np.asarray((low + (at - low) % span).astype(data.dtype))


def _late(data: Values, lengths: list[int], rng: np.random.Generator) -> Values:
    """Make the last elements of each row alike, nearly half of it, each row's of another value."""
    length = lengths[0] if lengths else len(data)
    rows = len(data) // max(1, length)
    late = length * LATE_PART // OF
    if not rows or not late:
        return data
    part = data[: rows * length].reshape(rows, length)
    chosen = part[np.arange(rows), rng.integers(0, length, rows)]
    part[:, length - min(late, HOT) :] = chosen[:, None]
    return data


def _maze(data: Values, width: int, ends: tuple[int, int], *, turned: bool) -> Values:
    """Return a picture of tiles, each with one way from its first cell, and walls beside it.

    What is low is open. The way goes along every other column, and `turned` along every other row.
    """
    rows = -(-len(data) // width)
    y, x = np.divmod(np.arange(rows * width), width)
    down, across = (x % TILE, y % TILE) if turned else (y % TILE, x % TILE)
    gap = np.where(across // 2 % 2, 1, TILE - 1)
    wall = ((across % 2 == 1) & (down != gap)) | ((down == 0) & (across > 0))
    low, high = ends
    return np.where(wall, high, low)[: len(data)].astype(data.dtype)
