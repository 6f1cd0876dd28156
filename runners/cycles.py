"""Whole numbers that repeat a short word along each row: steps that always go the same way.

A counter of few bits for the steps that went up is right for all that chance makes: of four numbers
some steps go down. Where a row repeats two of them, each step is as the one before, or as the one
before that, however long the row. So every row is a word of one to four letters over the numbers of
its range, again and again, each row another one; all words of one and two letters where there are
rows enough, and longer ones in the others. A state that is handed on may have begun with a number
that never comes again: of two letters, one order of them begins with a third one.

Where a range has more than `MOST_LETTERS` numbers, letters are its ends, what is beside these, zero
and one; every other row of it is as declared. Of what may be indices no more than `HOT` elements
are such (`runners.whole_families`). It is asked where a range is that narrow, in cases that are
asked anyway: one with many rows, of these the one with the longest, and one with longer ones still.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import end_contents, sizes
from runners.cuda_types import Field, values
from runners.families import CYCLES, captured_work, ranges
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import MOVED, Work
from runners.whole_families import alike

# Different numbers of a range whose words are all made; letters of a word.
MOST_LETTERS, LONGEST = 16, 4
# Rows of a case, the shortest of them, and the longest where an array has none but these.
LEAST_ROWS, LEAST_ROW, STRETCH = 24, 64, 1 << 10
# Elements of all buffers of a case with many rows, and of one with long ones.
MOST_ELEMENTS, MOST_LONG = 1 << 18, 1 << 20
# Of many rows one in so many, at least, has a longer word.
ONE_LONGER = 3

Case = Mapping[str, float]
Values = npt.NDArray[Any]
Word = tuple[int, ...]


def asked(work: Work, cases: Sequence[Case]) -> Iterator[tuple[Case, str]]:
    """Yield cases, each one of those that are asked anyway, and the family."""
    narrow = [one for one in ranges(work) if 0 < one[2] - one[1] < MOST_LETTERS]
    if not narrow or captured_work(work):
        return
    plain = [case for case in cases if MOVED not in case]
    many = [case for case in plain if _fits(work, narrow, case, MOST_ELEMENTS, LEAST_ROWS)]
    chosen = max(many, key=lambda case: _row(narrow, case), default=None)
    if chosen is not None:
        yield chosen, CYCLES
    declared = max(_row(narrow, case.values) for case in work.cases)
    least = max(declared, LEAST_ROW, 1 + (_row(narrow, chosen) if chosen is not None else 0))
    long = [
        case
        for case in plain
        if _row(narrow, case) >= least and _fits(work, narrow, case, MOST_LONG, 1)
    ]
    if long:
        yield max(long, key=lambda case: (_row(narrow, case), -work.elements(case))), CYCLES


def _row(narrow: Sequence[Range], case: Case) -> int:
    """Return the length of the longest rows."""
    return max(_shape(one, case)[1] for one in narrow)


def _fits(work: Work, narrow: Sequence[Range], case: Case, most: int, least: int) -> bool:
    """Tell whether a case is light and has rows enough."""
    if not 0 < sizes.elements(work, case) <= most:
        return False
    shapes = (_shape(one, case) for one in narrow)
    return any(rows >= least and row >= LEAST_ROW for rows, row in shapes)


def _shape(one: Range, case: Case) -> tuple[int, int]:
    """Return how many rows an array has, and how long they are; stretches where it has none."""
    count = sizes.buffer(one[0], case)
    row = max(1, end_contents.row(one, case))
    if row >= count:
        row = max(min(LEAST_ROW, count), min(STRETCH, count // LEAST_ROWS), 1)
    return count // row, row


def letters(low: int, high: int) -> list[int]:
    """Return the numbers of which words are made: all of a narrow range, else a few of it.

    >>> letters(0, 3), letters(-5, 99)
    ([0, 1, 2, 3], [-5, -4, 0, 1, 98, 99])
    """
    if high - low < MOST_LETTERS:
        return [*range(low, high + 1)]
    return sorted({low, low + 1, high - 1, high, *(one for one in (0, 1) if low <= one <= high)})


def words(count: int, many: int, seed: int) -> list[Word]:
    """Return so many words over the places of so many letters, those of one and two letters first.

    Of these the falling pairs, of which rows begin with another letter. Where there are more words
    than rows, and many rows, some longer ones are among them.

    >>> words(2, 4, 1)[0], sorted(words(2, 4, 1)), {len(one) for one in words(9, 50, 1)}
    ((1, 0), [(0,), (0, 1), (1,), (1, 0)], {2, 3, 4})
    """
    rng = stream(seed, CYCLES, "words")
    pairs = [*permutations(range(count), 2)]
    falling: list[Word] = [pair for pair in pairs if pair[0] > pair[1]]
    others: list[Word] = [pair for pair in pairs if pair[0] < pair[1]]
    others += [(letter,) for letter in range(count)]
    every = [part[at] for part in (falling, others) for at in rng.permutation(len(part))]
    longer = many // ONE_LONGER if many >= LEAST_ROWS else 0
    found = every[: many - longer]
    while len(found) < many:
        word = tuple(map(int, rng.integers(0, count, int(rng.integers(3, LONGEST + 1)))))
        # What repeats a shorter one is no word of its own.
        if len({*word}) > 1 and word[:2] != word[2:]:
            found.append(word)
    return found


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays of whole numbers of a range whose rows repeat a word each."""
    del family
    out = dict(arrays)
    for number, one in enumerate(ranges(work)):
        argument, low, high = one
        if argument.name not in arrays or high == low:
            continue
        count = len(arrays[argument.name]) // argument.type.size
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            _repeat(data, field, one, case, seed + number)
            parts.append(data)
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _repeat(data: Values, field: Field, one: Range, case: Case, seed: int) -> None:
    argument, low, high = one
    rows, row = _shape(one, case)
    row *= field.lanes
    rows = min(rows, alike(field, low, high, len(data)) // row)
    numbers = np.asarray(letters(low, high), np.int64).astype(data.dtype)
    rng = stream(seed, CYCLES, argument.name)
    made = words(len(numbers), rows, seed) if rows else []
    for at, word in enumerate(made):
        if high - low >= MOST_LETTERS and at % 2:
            continue
        own = data[at * row : (at + 1) * row]
        own[:] = np.resize(numbers[list(word)], row)
        others = [place for place in range(len(numbers)) if place not in word]
        begins = len(word) == 1 or word[0] > word[1] or (len(word) > 2 and rng.random() < 0.5)
        if others and begins and (len(word) > 1 or rng.random() < 0.5):
            own[0] = numbers[others[int(rng.integers(len(others)))]]
