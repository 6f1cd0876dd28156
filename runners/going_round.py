"""Whole numbers that advance by the same step everywhere, and go round at the end of their range.

A phase that turns steadily, a counter of few bits, a ring's places: each is the one before and a
step, modulo the width of the range. Drawn at random such differences cancel, and 256 steps of a
phase make no more than some sixteen turns; here they make 128, which a byte does not hold, and a
path passes 2^24, beyond which floats leave out every other number. What is coded as differences has
one difference throughout, and what is put into buckets by its last bits has them all alike.

So each row advances from the first number that was drawn for it, and rows take steps by turns: just
below half of the width, about a third of it, just above half, a power of two, one, and one back.
Where there are fewer rows than steps, a row has several steps, one behind the other. A row is what
the last factor of a shape spans, and `across` that the one before it: of `t*n` numbers each of n
may have its t ones a row apart.

And by numbers of the original's own text, the larger ones first, and by one of them and one: stamps
that are a day apart go on from date to date, over the ends of months and of years, and what is kept
from one to the next is wrong there or it is not. By chance no two are a day apart. A number by
which too many would meet in one place is none of these.

It is asked of arrays that are drawn by themselves, from a range that is no count of places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import following, sizes
from runners.axes import fitting, length, lengthening, lengths, plane
from runners.cuda_types import values
from runners.families import GOING_ROUND, ROUND_ACROSS, captured_work, drawn, ranges
from runners.inputs import Arrays, interleave
from runners.spec import Argument, Work
from runners.whole_families import alike

FAMILIES = (GOING_ROUND, ROUND_ACROSS)
# Numbers of a range at least, and beyond what width it is cut to a power of two: those are exact
# in arithmetic of 64 bits however often that goes round itself.
LEAST_WIDTH, MOST_WIDTH = 16, 1 << 40
# What whole numbers without a range are drawn from.
UNRANGED = (0, 99)
# Elements of all buffers of a case, and how many sizes are as long as they may be.
MOST_ELEMENTS, MOST_LONG = 1 << 22, 3
# What is said behind a family where steps are numbers of the original's text, how many of them are
# taken, and how many elements there are where rows are longer than any case has room for.
BY_TEXT, MOST_NUMBERS, MOST_CUT = " text", 6, 1 << 20

Values = npt.NDArray[Any]
Case = Mapping[str, float]


def asked(work: Work, middle: Case) -> Iterator[tuple[Case, str]]:
    """Yield cases and families: the middle case, and those in which rows are long.

    As long as the largest declared ones, and as a candidate has to be right for, the others few:
    what a shorter one took tells what the original will take.
    """
    arrays = [argument for argument, _, _ in _advancing(work)]
    if not arrays or captured_work(work):
        return
    if sizes.elements(work, middle) <= MOST_ELEMENTS:
        yield middle, GOING_ROUND
        if any(length(one, middle, 1) > 1 for one in arrays):
            yield middle, ROUND_ACROSS
    for axis, name in lengthening(work, arrays, len(FAMILIES))[:MOST_LONG]:
        yield from ((case, FAMILIES[axis]) for case in lengths(work, name, MOST_ELEMENTS))
    yield from _asked_by_text(work, middle)


def _asked_by_text(work: Work, middle: Case) -> Iterator[tuple[Case, str]]:
    """Yield cases and families in which steps are numbers of the original's text.

    The middle case, and the longest rows of the others: what these may take is told by those.
    """
    arrays = [argument for argument, _, width in _advancing(work) if _numbers(work, width)]
    if not arrays:
        return
    if sizes.elements(work, middle) <= MOST_ELEMENTS:
        yield middle, GOING_ROUND + BY_TEXT
    for axis, name in lengthening(work, arrays, len(FAMILIES))[:MOST_LONG]:
        for case in lengths(work, name, MOST_ELEMENTS)[-1:] or _cut(work, name):
            yield case, FAMILIES[axis] + BY_TEXT


def _numbers(work: Work, width: int) -> list[int]:
    """Return the numbers of an original's text by which those of a range may advance."""
    return [one for one in work.steps if 1 < one < width][:MOST_NUMBERS]


def _advancing(work: Work) -> Iterator[tuple[Argument, int, int]]:
    """Yield the arrays that may advance, with the first number and the width of their range."""
    bounds = {argument.name: (low, high) for argument, low, high in ranges(work)}
    places = {one.argument.name for one in following.followed(work)}
    for argument in drawn(work):
        low, high = bounds.get(argument.name, UNRANGED)
        width = high - low + 1
        if width >= LEAST_WIDTH and argument.name not in places:
            width = width if width <= MOST_WIDTH else 1 << width.bit_length() - 1
            yield argument, low, width


def _cut(work: Work, name: str) -> list[dict[str, float]]:
    """Return a case whose rows are as long as there is room for, where declared ones are longer."""
    for others in sizes.few_others(work, name):
        size = fitting(work, others, name, int(sizes.largest(work, name)), MOST_CUT)
        if size > sizes.SMALL:
            return [{**others, name: float(size)}]
    return []


def steps(width: int) -> tuple[int, ...]:
    """Return by what numbers of a range advance, modulo its width.

    Half of the width and a third of it are such that all numbers are met, or every other one.

    >>> steps(65536), steps(100)
    ((32767, 21845, 32769, 256, 1, 65535), (49, 33, 51, 8, 1, 99))
    """
    third = width // 3 + (width % 3 == 0)
    alike = 1 << (width - 1).bit_length() // 2
    return (width - 1) // 2, third, width // 2 + 1, alike, 1, width - 1


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays whose whole numbers advance along rows, or across them, and go round."""
    out, across = dict(arrays), family.startswith(ROUND_ACROSS)
    for number, (argument, low, width) in enumerate(_advancing(work)):
        row, along = plane(argument, case)
        count = len(arrays[argument.name]) // argument.type.size
        parts = []
        for field in argument.type.fields:
            # Of a vector each number advances by itself: two channels, three sides of a point.
            data = values(arrays[argument.name], argument.type, field).reshape(count, field.lanes)
            made = data.copy()
            by = steps(width)
            if family.endswith(BY_TEXT):
                most = alike(field, low, low + width - 1, count)
                by = _by_text(_numbers(work, width), width, count, most, seed)
            for lane in range(field.lanes if by else 0):
                rows = _rows(data[:, lane], row, along if across else 0)
                gone = _advanced(rows, low, width, by, number)
                if across:
                    gone = gone.reshape(-1, row, along).transpose(0, 2, 1)
                made[:, lane] = gone.reshape(-1)[:count]
            parts.append(made.reshape(-1))
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _by_text(
    numbers: Sequence[int], width: int, count: int, most: int, seed: int
) -> tuple[int, ...]:
    """Return steps of a text: its numbers, and one of them and one.

    None with which more than `most` of so many elements may be the same, and more than by chance.

    >>> _by_text([86400, 3600], 2100000000, 1000, 1000, 1), _by_text([1024], 4096, 1000, 200, 0)
    ((86400, 3600, 3601), (1025,))
    """
    chosen = numbers[seed % max(1, len(numbers)) :][:1]
    every = [*numbers, *(one + 1 for one in chosen if one + 1 < width)]
    apart = ((one, width // gcd(one, width)) for one in every)
    return tuple(one for one, met in apart if met == width or count <= most * met)


def _rows(data: Values, row: int, along: int) -> Values:
    """Return what advances as rows, whole ones: those of an array, or of its planes' columns."""
    whole = row * max(1, along)
    padded = np.resize(data, -(-len(data) // whole) * whole)
    if not along:
        return padded.reshape(-1, row)
    return padded.reshape(-1, along, row).transpose(0, 2, 1).reshape(-1, along)


def _advanced(rows: Values, low: int, width: int, every: Sequence[int], turn: int) -> Values:
    """Return rows that advance from their first number by steps of a range, by turns."""
    many, length = rows.shape
    by = np.asarray(every, np.uint64)
    parts = -(-len(by) // max(1, many))
    part = np.arange(length) // max(1, -(-length // parts))
    moved = by[(turn + np.arange(many)[:, None] * parts + part) % len(by)]
    begin = np.uint64(low % (1 << 64))
    moved[:, :1] = rows[:, :1].astype(np.uint64) - begin
    gone = np.cumsum(moved, axis=1, dtype=np.uint64) % np.uint64(width)
    return np.asarray((gone + begin).astype(rows.dtype))
