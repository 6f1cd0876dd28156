"""Two arrays of whole numbers that are equal but for a place or two in each row.

Which of two long numbers is less, how much two rows have in common, where they part: what decides
that is the first place at which they differ, and drawn by chance that is the first one there is.
Who looks at a few places, or at a hash, a sum or a float of them, and goes on from there, is right
for all of those. Here the second array is a copy of the first, and then, row by row, one place is
one more in the first array and another place, before or behind it, is one more in the second: the
first place and the last, the third from either end, the middle one, and any. Some rows differ in a
single place, and some in none.

Once they are what was declared, and once zero (`BARE`), or what of a range is nearest to it, but
for one number from the middle of the range at one end of each row.

The two arrays are only read, have the same shape, type and range, and are no indices by their
range. Which originals are asked is in `runners.unlikely`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import piles, sizes
from runners.cuda_types import values
from runners.families import TWINS
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Work
from runners.whole_families import LEAST_WIDE
from runners.whole_numbers import row_lengths

FAMILIES = (TWINS, BARE := f"{TWINS} bare")
# Places of a row at least; rows, and elements of all buffers, where these are longest.
LEAST_ROW, MOST_ROWS, MOST_ELEMENTS = 16, 24, 1 << 20
# Places in a row: of one that is more in the first array, and of one in the second; or none is.
FIRST, THIRD, MIDDLE, THIRD_LAST, LAST, ANY, NONE = range(7)
# Where there are few rows, these come first: places that are far apart, near either end.
PLACES = (
    (THIRD_LAST, FIRST),
    (FIRST, THIRD_LAST),
    (THIRD, LAST),
    (LAST, THIRD),
    (LAST, FIRST),
    (FIRST, LAST),
    (NONE, NONE),
    (ANY, NONE),
    (NONE, ANY),
    (MIDDLE, FIRST),
    (FIRST, MIDDLE),
    (MIDDLE, LAST),
    (LAST, MIDDLE),
    (THIRD_LAST, ANY),
    (ANY, THIRD_LAST),
    (THIRD, ANY),
    (ANY, THIRD),
    (ANY, ANY),
    (THIRD_LAST, LAST),
    (LAST, THIRD_LAST),
    (THIRD, FIRST),
    (FIRST, THIRD),
    (LAST, NONE),
    (NONE, FIRST),
)

Case = Mapping[str, float]
Values = npt.NDArray[Any]


def pair(work: Work) -> tuple[Range, Range] | None:
    """Return the first two arrays that may be twins, and their range; None for none."""
    known: dict[tuple[str, str, str], Range] = {}
    for one in piles.read(work):
        argument, low, high = one
        scalar = argument.type.scalar
        if scalar is None or high == low or len(_lengths(one, work.cases[0].values)) == 0:
            continue
        if scalar.size >= LEAST_WIDE and piles.is_key(work, one):
            continue
        alike = (argument.shape or "", argument.init, scalar.name)
        if alike in known:
            return known[alike], one
        known[alike] = one
    return None


def _lengths(one: Range, case: Case) -> list[int]:
    """Return the length of rows, and of planes; nothing of an array that has no rows."""
    argument = one[0]
    lengths = row_lengths(argument.shape or "1", case)
    return lengths if lengths and lengths[0] < sizes.buffer(argument, case) else []


def _row(one: Range, case: Case) -> int:
    return next(iter(_lengths(one, case)), 0)


def cases(work: Work) -> Iterator[Case]:
    """Yield the smallest declared case with rows, and one with rows as long as they may be."""
    found = pair(work)
    ordered = sorted((case.values for case in work.cases), key=work.elements)
    fit = [case for case in ordered if found is not None and _row(found[0], case) >= LEAST_ROW]
    if found is None or not fit:
        return
    moderate = fit[0]
    if sizes.elements(work, moderate) <= MOST_ELEMENTS:
        yield moderate
    few = {name: min(value, float(MOST_ROWS)) for name, value in moderate.items()}
    for name in sizes.sizing(work):
        longer = {**moderate, name: moderate[name] + 1}
        if _row(found[0], longer) == _row(found[0], moderate):
            continue
        length = float(int(sizes.TIMES_LONGER * sizes.largest(work, name)))
        tried = [{**others, name: length} for others in (few, *sizes.few_others(work, name))]
        yield from [c for c in tried if 0 < sizes.elements(work, c) <= MOST_ELEMENTS][:1]
        return


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays of which two are equal but for a place or two in each row."""
    found = pair(work)
    row = _row(found[0], case) if found is not None else 0
    if found is None or row < LEAST_ROW:
        return arrays
    (first, low, high), (second, _, _) = found
    (field,) = first.type.fields
    data = values(arrays[first.name], first.type, field).copy()
    many = len(data) // row
    rows = data[: many * row].reshape(many, row)
    if family == BARE:
        rows[:] = piles.within(0, low, high)
        # Which end of a row counts most is not told.
        end = np.where(np.arange(many) // 2 % 2 == 0, row - 1, 0)
        rows[np.arange(many), end] = low + (high - low) // 2
    one, other = _parted(rows, high, stream(seed, family, first.name))
    made = {first.name: one, second.name: other}
    out = dict(arrays)
    for argument in (first, second):
        whole = data.copy()
        whole[: many * row] = made[argument.name].reshape(-1)
        out[argument.name] = interleave([whole], argument.type, len(whole))
    return out


def _parted(rows: Values, high: int, rng: np.random.Generator) -> tuple[Values, Values]:
    """Return rows twice, one place more in the first and another in the second, as `PLACES` say."""
    many, row = rows.shape
    top = np.asarray(high).astype(rows.dtype)
    one, other = rows.copy(), rows.copy()
    anywhere = rng.integers(0, row, (2, many))
    at = {FIRST: 0, THIRD: 2, MIDDLE: row // 2, THIRD_LAST: row - 3, LAST: row - 1}
    for number in range(many):
        mine, theirs = (
            None if kind == NONE else at.get(kind, int(anywhere[side, number]))
            for side, kind in enumerate(PLACES[number % len(PLACES)])
        )
        if mine == theirs:
            continue
        for place, more in ((mine, one), (theirs, other)):
            if place is not None:
                # Of the last number of a range there is none that is one more.
                least = min(rows[number, place], top - 1)
                one[number, place] = other[number, place] = least
                more[number, place] = least + 1
    return one, other
