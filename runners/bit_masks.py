"""Whole numbers that are sets of bits, nearly full or nearly empty, with a pattern in what is left.

Of words that are drawn from all there are, half of the bits are set, and of the union of twelve
boards one square in thousands is not: that three squares in one line are left empty, and no others,
happens to nobody. Stretches of no bit and of all of them (`runners.bitmaps`) have no pattern.

Here each row is taken apart into periods of a few bytes, mostly eight, and has a mask of one to
eight bits of such a period: bits that are equally far from each other mostly, as neighbours along a
rank, a file or a diagonal are. Then all bits but the mask's are set in one period of the row, or
each in another one, while those of the mask are set in none (`FULL`, `SHARED`); or the mask is all
that a period has, and the others have few bits or none (`AMONG`, `ALONE`). Arrays of one shape and
range are rows of each other: a board may be one's own and the other's men.

They are asked of originals whose text takes words for sets (`runners.bit_sets`), of arrays that may
hold all numbers of their type, or half of those of 32 bits and more; in one case. Which of these
originals are asked is in `runners.unlikely`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import bitmaps, sizes, whole_numbers
from runners.cuda_types import values
from runners.families import BIT_MASKS, ranges
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Work

# Elements of a case, and of an array that are made, whatever the case; and of the only case.
MOST_ELEMENTS, MOST_ALONE = 1 << 18, 1 << 24
# Elements of a row where an array has none that is shorter than the other number.
STRETCH, LONGEST = 64, 1 << 12
# Bytes of a period, by how often; bits of a mask, and how far they are from each other.
PERIODS = (8, 8, 8, 8, 8, 4, 2, 1, 16)
MOST_BITS, FEW_BITS = 8, 4
NEIGHBOURS, STRIDES = (1, 7, 8, 9), (2, 3, 4, 5, 6, 15, 16, 17)
# What is done with a row, by how often.
FULL, SHARED, AMONG, ALONE = range(4)
WAYS = (FULL, FULL, FULL, SHARED, SHARED, SHARED, AMONG, ALONE)
# How often bits of a mask are neighbours, anywhere, and few.
NEAR, ANYWHERE, FEW = 0.75, 0.1, 0.7
# Seeds that it is asked with.
TURNS = 3

Case = Mapping[str, float]
Values = npt.NDArray[Any]
Bits = npt.NDArray[np.bool_]


def asked(work: Work) -> Iterator[tuple[Case, str]]:
    """Yield the case and the family: the largest light case, or the smallest of all."""
    if not (work.sets and sets(work)):
        return
    ordered = sorted((case.values for case in work.cases), key=work.elements)
    light = [case for case in ordered if work.elements(case) <= MOST_ELEMENTS]
    case = light[-1] if light else ordered[0]
    if 0 < sizes.elements(work, case) <= MOST_ALONE:
        yield case, BIT_MASKS


def sets(work: Work) -> list[list[Range]]:
    """Return the arrays whose words may have any of their bits set, those of one shape together."""
    wide = {argument.name for argument, _, _ in bitmaps.wide(work)}
    found: dict[tuple[object, ...], list[Range]] = {}
    for one in ranges(work):
        argument, low, high = one
        scalar = argument.type.fields[0].scalar
        every = low <= 0 and high - low == 2 ** (8 * scalar.size) - 1
        if len(argument.type.fields) == 1 and (every or argument.name in wide):
            found.setdefault((argument.shape, scalar.name, low, high), []).append(one)
    return [*found.values()]


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays whose rows have a mask each; what is behind the last row is as declared."""
    out = dict(arrays)
    for every in sets(work):
        argument, low, high = every[0]
        kind, field = argument.type, argument.type.fields[0]
        rng = stream(seed, family, argument.name)
        before = [values(arrays[one.name], kind, field).copy() for one, _, _ in every]
        row = min(_row(argument.shape or "1", case, len(before[0])) * field.lanes, len(before[0]))
        rows = min(len(before[0]), MOST_ELEMENTS) // row if row else 0
        if not rows:
            continue
        made = _made(rows, len(every), row, field.scalar.size, rng)
        for (one, _, _), data, new in zip(every, before, made, strict=True):
            data[: rows * row] = _within(new.reshape(-1), low, high).astype(data.dtype)
            out[one.name] = interleave([data], kind, len(data) // field.lanes)
    return out


def _row(shape: str, case: Case, count: int) -> int:
    """Return how long what belongs together is: as a shape says in numbers, a row, or a stretch.

    >>> _row("n*96", {"n": 5.0}, 480), _row("2*n", {"n": 5.0}, 10), _row("n", {"n": 900.0}, 900)
    (96, 2, 64)
    >>> _row("m*((k+31)/32)", {"m": 7.0, "k": 99.0}, 28)
    4
    """
    own = whole_numbers.unit(shape)
    if own > 1:
        return own
    row = next(iter(whole_numbers.row_lengths(shape, case)), count)
    return row if row < min(count, LONGEST) else STRETCH


def _within(words: Values, low: int, high: int) -> Values:
    """Return words, of which none is beyond its range, with the bits that a range has."""
    size = words.dtype.itemsize
    if low < 0:
        signed = words.view(f"i{size}")
        return np.asarray(np.clip(signed, low, high))
    kept = words & words.dtype.type((1 << high.bit_length()) - 1)
    return np.asarray(np.minimum(kept, words.dtype.type(high)))


def _made(rows: int, arrays: int, row: int, size: int, rng: np.random.Generator) -> Values:
    """Return words without a sign for each array and row."""
    out = _sparse((arrays, rows, row), size, rng)
    chosen = rng.choice(PERIODS, rows)
    for period in sorted({*PERIODS}):
        length = min(max(1, period // size), row)
        at = np.flatnonzero(chosen == period)
        many = row // length
        if not len(at):
            continue
        apart = out[:, at, : many * length].reshape(arrays, len(at), many, length)
        own = apart.transpose(1, 0, 2, 3).reshape(len(at), arrays * many, length)
        made = _masked(own, size, rng).reshape(len(at), arrays, many * length)
        out[:, at, : many * length] = made.transpose(1, 0, 2)
    return out


def _sparse(shape: tuple[int, ...], size: int, rng: np.random.Generator) -> Values:
    """Return words of which each bit is set with one in sixteen, or in every other row in four."""
    count = int(np.prod(shape)) * size
    drawn = (np.frombuffer(rng.bytes(count), f"u{size}").reshape(shape) for _ in range(4))
    first, second, third, fourth = drawn
    few = first & second
    few[:, ::2] &= (third & fourth)[:, ::2]
    return np.asarray(few)


def _masked(own: Values, size: int, rng: np.random.Generator) -> Values:
    """Return rows of periods, each row with a mask and in one of the ways."""
    rows, many, length = own.shape
    bits = 8 * size * length
    masks = _masks(rows, bits, rng)
    ways = np.asarray(WAYS)[rng.integers(0, len(WAYS), (rows,))]
    place = rng.integers(0, many, (rows,))
    mask = _packed(masks, size)
    out = own & ~mask[:, None, :]
    full = np.flatnonzero(ways == FULL)
    out[full, place[full]] = ~mask[full]
    shared = np.flatnonzero(ways == SHARED)
    spread = np.zeros((len(shared), many, bits), np.bool_)
    where = rng.integers(0, many, (len(shared), 1, bits))
    np.put_along_axis(spread, where, ~masks[shared][:, None, :], axis=1)
    out[shared] |= _packed(spread, size)
    out[ways == ALONE] = 0
    alone = np.flatnonzero((ways == ALONE) | (ways == AMONG))
    out[alone, place[alone]] = mask[alone]
    return np.asarray(out)


def _masks(rows: int, bits: int, rng: np.random.Generator) -> Bits:
    """Return which bits the mask of each row has."""
    each, turn = (rows, 1), np.arange(MOST_BITS)
    most = np.where(rng.random(each) < FEW, FEW_BITS, MOST_BITS)
    count = np.minimum(rng.integers(1, most, endpoint=True), bits)
    steps = [np.asarray(kind)[rng.integers(0, len(kind), each)] for kind in (NEIGHBOURS, STRIDES)]
    step = np.where(rng.random(each) < NEAR, *steps)
    at = rng.integers(0, np.maximum(1, bits - (count - 1) * step)) + turn * step
    loose = np.flatnonzero(rng.random(rows) < ANYWHERE)
    anywhere = rng.random((len(loose), bits)).argsort(axis=1)[:, :MOST_BITS]
    at[loose] = anywhere
    out = np.zeros((rows, bits), np.bool_)
    row, number = np.nonzero((turn < count) & (at < bits))
    out[row, at[row, number]] = True
    return out


def _packed(bits: Bits, size: int) -> Values:
    """Return the words of bits, the least first."""
    return np.asarray(np.packbits(bits, axis=-1, bitorder="little").view(f"u{size}"))
