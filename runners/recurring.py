"""Whole numbers that come again at the far end of a long row, and one other number between.

Who looks back for the place where something was last, as in a trace of pages, finds it soon among
numbers that are drawn: of sixty, in a thousand places, each is met many times. A walk that ends
after so many steps, a distance in few bits, a ring of the last ones: all of these are right there.
Here a row has one number at both its ends, or at its first place and at half or three quarters of
it, and another number in all other places, in rows that are sixteen times as long as declared.

Of several arrays one at a time, the others as declared. Which originals are asked is in
`runners.unlikely`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runners import end_contents, full_counts, sizes
from runners.cuda_types import values
from runners.families import RECURRING, drawn, ranges
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Work
from runners.whole_families import alike
from runners.whole_numbers import row_lengths

# Arrays that have a turn; a row is this long at least: in shorter ones any two places are near.
MOST_ARRAYS, LEAST_ROW = 2, 128
# Where a number comes again, in quarters of a row, by turns of rows.
AGAIN, QUARTERS = (4, 2, 3), 4
# How many numbers two are chosen from.
NUMBERS = 8

Case = Mapping[str, float]


def asked(work: Work) -> Iterator[tuple[Case, str]]:
    """Yield cases and families: each array in turn, in cases in which its rows are longest."""
    declared = max((case.values for case in work.cases), key=work.elements)
    lines = [line[-1] for line in full_counts.cases(work)]
    for number, one in enumerate(arrays_of(work)[:MOST_ARRAYS]):
        for case in lines:
            # Of rows of one element each there is none that is long.
            row = next(iter(row_lengths(one[0].shape or "1", case)), 0)
            if row >= LEAST_ROW and row > end_contents.row(one, declared) and _rows(one, case):
                yield case, f"{RECURRING} {number}"


def arrays_of(work: Work) -> list[Range]:
    """Return the arrays that are drawn from a range of two numbers at least, and only read."""
    names = {argument.name for argument in drawn(work) if not argument.written}
    return [one for one in ranges(work) if one[0].name in names and one[2] > one[1]]


def _rows(one: Range, case: Case) -> int:
    """Return how many rows of an array may be so: of what may be indices not all are alike."""
    argument, low, high = one
    count = sizes.buffer(argument, case)
    most = min(alike(field, low, high, count * field.lanes) for field in argument.type.fields)
    return most // max(1, end_contents.row(one, case) * argument.type.fields[0].lanes)


def _small(low: int, high: int) -> list[int]:
    """Return the numbers of a range that are nearest to zero: they add up to little.

    >>> _small(-9, 90), _small(5, 6)
    ([-4, -3, -2, -1, 0, 1, 2, 3], [5, 6])
    """
    first = min(max(low, -NUMBERS // 2), max(low, high - NUMBERS + 1))
    return [*range(first, min(high, first + NUMBERS - 1) + 1)]


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays of which one, the number behind a family's name, has such rows."""
    every = arrays_of(work)
    number = int(family.rpartition(" ")[2])
    if number >= len(every):
        return arrays
    one = every[number]
    argument, low, high = one
    rng = stream(seed, family, argument.name)
    count = len(arrays[argument.name]) // argument.type.size
    parts = []
    for field in argument.type.fields:
        data = values(arrays[argument.name], argument.type, field).copy()
        row = end_contents.row(one, case) * field.lanes
        first, second = rng.choice(_small(low, high), 2, replace=False)
        for turn in range(min(_rows(one, case), len(data) // row)):
            own = data[turn * row : (turn + 1) * row]
            own[:] = second
            own[0] = own[min(row - 1, row * AGAIN[turn % len(AGAIN)] // QUARTERS)] = first
        parts.append(data)
    return {**arrays, argument.name: interleave(parts, argument.type, count)}
