"""Whole numbers that lead from each row to one place, beside others at the ends of their ranges.

Where what an element leads to is told from its own row (`(i + off[e]) % n`), no array that is all
one number has anything meet: each row then leads to a place of its own. And numbers that are drawn
lead to some thirty each. So in these the element of row r is c - r (`BACK`), c + r (`ON`), c xor r
(`XOR`) or c itself (`SAME`), modulo the number of rows, and within the declared range: all of them
come to place c, the first, the middle or the last one by turns of the seed. Of a range that has
fewer numbers than there are rows, each stretch of so many rows comes to a place of its own.

A row is what the last factor of a shape spans; or (`ALONG`) each element is one, and rows of the
shape are as many. Of all elements a part leads there and the rest as they were drawn, so that a
small part tells what a larger one may take. All other whole numbers with a range are at one of its
ends, by the bits of a number: which arrays are high and which are low decides what is added up.

Which arrays lead somewhere is read off the original's text (`runners.indexing`); what is asked, and
how, is in `runners.all_meeting`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import sizes
from runners.axes import plane
from runners.cuda_types import Field, values
from runners.families import MEETING, ranges
from runners.inputs import Arrays, interleave
from runners.piles import Range
from runners.spec import Argument, Work
from runners.whole_families import WIDEST

BACK, ON, XOR, SAME = WAYS = ("back", "on", "xor", "same")
ACROSS, ALONG = KINDS = ("across", "along")
# Rows at least: more than a counter of 8 bits has room for. Nothing of a narrower range leads far.
LEAST_ROWS = 256 + 64

Case = Mapping[str, float]
Values = npt.NDArray[Any]
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Way:
    """How elements lead to one place: by what way, of what rows, and which others are high.

    One in 2^`part` of the elements does so.
    """

    way: str
    kind: str
    high: int
    part: int = 0

    @property
    def family(self) -> str:
        """Return the family of such contents.

        >>> Way("back", "across", 5, 2).family, Way.of("meeting back across 5 2").high
        ('meeting back across 5 2', 5)
        """
        return f"{MEETING} {self.way} {self.kind} {self.high} {self.part}"

    @classmethod
    def of(cls, family: str) -> Way:
        """Return what a family stands for."""
        _, way, kind, high, part = family.split(" ")
        return cls(way, kind, int(high), int(part))


def leading(work: Work) -> list[Range]:
    """Return the arrays that lead somewhere, with the ends of their ranges."""
    return [
        one
        for one in ranges(work)
        if one[0].name in work.leads and one[2] - one[1] >= LEAST_ROWS
        if one[1] > -WIDEST and one[2] < WIDEST
    ]


def others(work: Work) -> list[Range]:
    """Return all other arrays of whole numbers of more than one number."""
    known = {one[0].name for one in leading(work)}
    return [one for one in ranges(work) if one[0].name not in known and one[2] > one[1]]


def rows(argument: Argument, case: Case, kind: str) -> tuple[int, int]:
    """Return how many elements a row of an array has, and how many rows there are.

    >>> from runners.cuda_types import parse
    >>> one = Argument("x", parse("const int*"), "n*3", "input", "normal", None)
    >>> rows(one, {"n": 5.0}, ACROSS), rows(one, {"n": 5.0}, ALONG)
    ((3, 5), (1, 3))
    """
    row, along = plane(argument, case)
    count = sizes.buffer(argument, case)
    if kind == ALONG or row == count:
        return 1, row
    return row, along


def kinds(work: Work, case: Case) -> Iterator[str]:
    """Yield of what rows there are enough in a case, for some array that leads somewhere."""
    known = set()
    for kind in KINDS:
        found = tuple(rows(one[0], case, kind) for one in leading(work))
        if found not in known and any(many >= LEAST_ROWS for _, many in found):
            known.add(found)
            yield kind


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays of which some lead to one place, and others are at an end of their range."""
    way = Way.of(family)
    out = dict(arrays)
    for one in leading(work):
        argument = one[0]
        count = len(arrays[argument.name]) // argument.type.size
        row, many = rows(argument, case, way.kind)
        which = np.arange(count >> way.part, dtype=np.int64) // max(1, row) % max(1, many)
        made = _leads(way.way, which, many, one, (0, many // 2, many - 1)[seed % 3])
        out[argument.name] = _put(argument, arrays, made)
    for number, (argument, low, high) in enumerate(others(work)):
        count = len(arrays[argument.name]) // argument.type.size
        end = high if way.high >> number & 1 else low
        out[argument.name] = _put(argument, arrays, np.broadcast_to(end, count))
    return out


def _leads(way: str, row: Places, many: int, one: Range, place: int) -> Places:
    """Return the numbers by which rows lead to a place; none is beyond the range."""
    _, low, high = one
    by = {BACK: place - row, ON: place + row, XOR: place ^ row}.get(way, np.full_like(row, place))
    # What is beyond the range goes round by the number of rows, or as far as the range goes.
    inside = (by >= low) & (by <= high)
    return np.asarray(np.where(inside, by, low + (by - low) % min(many, high - low + 1)))


def _put(argument: Argument, arrays: Arrays, made: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
    """Return an array of which the first elements are others, in all of their fields."""
    kind, data = argument.type, arrays[argument.name]

    def changed(field: Field) -> Values:
        found = values(data, kind, field).copy()
        found[: len(made) * field.lanes] = np.repeat(made.astype(found.dtype), field.lanes)
        return found

    parts = [changed(field) for field in kind.fields]
    return interleave(parts, kind, len(data) // kind.size)
