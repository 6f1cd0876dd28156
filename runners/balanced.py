"""Rows of two letters that sums, weighted sums and polynomial hashes do not tell apart.

Who compares rows by a hash is right for all that chance makes. A word that begins with one letter
and goes on, each time as long again, with what there is and the two letters in each other's place
(Thue 1906, Morse 1921) has with the word of opposite letters in common how many there are of each,
the sum of their places, of squares of them, and so on (Prouhet 1851): so many powers of a place as
the word was doubled. So has every hash that is a polynomial in words of 32 or of 64 bits, whatever
its factor is: of 128 letters, and of 1,024. So every row is such a word or its opposite, and some
are the same; what a power of two leaves of a row is the first letter. Within each word there are
shorter ones, and their opposites: what looks for a row in another one meets both.

Letters of amounts are zero and one, or what of a range is nearest to these: whatever is added up
fits into an original's words. Those of keys are the ends of a range, or any two beside each other.
It is asked in the smallest declared case with such rows, and in one whose rows are long enough for
64 bits, or as long as they may be; and in one whose rows are a word and its opposite.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import piles, sizes
from runners.cuda_types import values
from runners.families import BALANCED
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Work
from runners.whole_families import alike
from runners.whole_numbers import row_lengths

# Letters of the least word, and of one for 64 bits; rows where these are long; elements.
LEAST, LONG, MOST_ROWS, MOST_ELEMENTS = 64, 1 << 10, 24, 1 << 20
# Lengths of rows that are two words, the first one that there may be.
HALVED = (2 * LONG, LONG, LONG // 2, 2 * LEAST)
# Stretches of an array that has no rows.
STRETCHES = 8
# Which rows are a word's opposite: neighbours are alike or not, and so are every second and third.
OPPOSITE = (0, 1, 1, 0, 0, 0, 1, 0)

Case = Mapping[str, float]
Values = npt.NDArray[Any]


def word(length: int) -> npt.NDArray[np.int8]:
    """Return so many letters of the word, the first power of two of which is balanced.

    >>> "".join(map(str, word(8)))
    '01101001'
    """
    return (np.bitwise_count(np.arange(length, dtype=np.uint64)) & 1).astype(np.int8)


def arrays(work: Work) -> list[Range]:
    """Return the arrays that are changed: only read, and of more than one number."""
    return [one for one in piles.read(work) if one[2] > one[1]]


def _row(one: Range, case: Case) -> int:
    """Return the length of an array's rows; of stretches where it has none."""
    count = sizes.buffer(one[0], case)
    lengths = row_lengths(one[0].shape or "1", case)
    row = lengths[0] if lengths else count
    return row if 0 < row < count else count // STRETCHES


def cases(work: Work) -> Iterator[Case]:
    """Yield the smallest declared case with rows for 32 bits, and one with rows for 64."""
    mine = arrays(work)
    ordered = sorted((case.values for case in work.cases), key=work.elements)

    def longest(case: Case) -> int:
        return max((_row(one, case) for one in mine), default=0)

    light = [case for case in ordered if 0 < sizes.elements(work, case) <= MOST_ELEMENTS]
    fit = [case for case in light if longest(case) >= LEAST]
    yield from fit[:1]
    declared = max(map(longest, fit[:1]), default=LEAST)
    base = ordered[0]
    few = {name: min(value, float(MOST_ROWS)) for name, value in base.items()}
    tried: list[Case] = []
    for name in sizes.sizing(work):
        most = sizes.TIMES_LONGER * sizes.largest(work, name)
        # A row is as long as a size, or so many stretches are; one more than whole words.
        for length in (LONG, STRETCHES * LONG):
            long = float(min(most, length + 1))
            tried += [{**others, name: long} for others in (few, base)]
    fits = (c for c in tried if 0 < sizes.elements(work, c) <= MOST_ELEMENTS)
    # The first of those with the longest words.
    chosen = max(fits, key=lambda case: min(LONG, _whole(longest(case))), default=base)
    if declared < LONG and _whole(longest(chosen)) > _whole(declared):
        yield chosen
    # And rows of two words and no more, each the other's opposite: who asks for halves alike.
    for length, name in itertools.product(HALVED, sizes.sizing(work)):
        case = {**few, name: float(length)}
        fine = longest(case) == length and sizes.promised(work, case) == case
        if fine and 0 < sizes.elements(work, case) <= MOST_ELEMENTS:
            yield case
            return


def _whole(row: int) -> int:
    """Return the largest power of two within a row.

    >>> _whole(1025), _whole(1023), _whole(0)
    (1024, 512, 0)
    """
    return 1 << row.bit_length() >> 1


def applied(family: str, work: Work, arrays_: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays whose rows are balanced words, and their opposites."""
    del family
    out = dict(arrays_)
    for one in arrays(work):
        argument, low, _ = one
        high = piles.last(one, case)
        row = _row(one, case)
        if row < LEAST or high <= low:
            continue
        letters = _letters(work, one, high, seed)
        mine = int(stream(seed, BALANCED, argument.name).integers(len(OPPOSITE)))
        parts = []
        for field in argument.type.fields:
            data = values(arrays_[argument.name], argument.type, field).copy()
            _write(data, row * field.lanes, letters, mine, alike(field, low, high, len(data)))
            parts.append(data)
        count = len(arrays_[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _letters(work: Work, one: Range, high: int, seed: int) -> npt.NDArray[np.int64]:
    """Return two numbers of a range, the same ones for all arrays of the same declaration."""
    argument, low, _ = one
    beside, ends = piles.within(0, low, high - 1), False
    if piles.is_key(work, one):
        rng = stream(seed, BALANCED, argument.shape or "", argument.init)
        beside, ends = int(rng.integers(low, high)), bool(rng.integers(2))
    return np.asarray((low, high) if ends else (beside, beside + 1), np.int64)


def _write(data: Values, row: int, letters: npt.NDArray[np.int64], first: int, most: int) -> None:
    """Write words into rows, as many as may have the same two numbers; `first` turns them."""
    many = min(len(data), most) // row
    whole = _whole(row)
    line = np.zeros(row, np.int8)
    line[:whole] = word(whole)
    opposite = line.copy()
    opposite[:whole] ^= 1
    turned = np.asarray(OPPOSITE)[(np.arange(many) + first) % len(OPPOSITE)]
    rows = np.where(turned[:, None] == 1, opposite, line)
    data[: many * row] = letters[rows].astype(data.dtype).reshape(-1)
