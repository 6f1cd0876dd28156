"""Rows that come again, of numbers that have their last bits in common.

Where equal rows are looked for by a hash, what goes wrong does so where many rows meet in one place
of its table, and one of them comes again when that is full. Chance draws no row twice, and spreads
them evenly. So here rows are drawn from fewer of them, each of which is there once before any comes
again, and all numbers are multiples of one power of two beyond a common number: whatever odd
numbers a hash multiplies them by, their last bits are the same. It is run original and candidate
side by side (`runners.small_runs`), on sizes that chance draws, too.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from runners import lone_powers, piles
from runners.inputs import Arrays, filled, stream
from runners.piles import Range
from runners.spec import Work
from runners.whole_numbers import row_lengths

WORD = "come again"
# How often numbers are no multiples, and begin at any of the range; which part of the rows is
# there once at most.
PLAIN, SHIFTED, PARTS = 0.2, 0.3, (0.9, 0.7, 0.5, 0.2)
# How often rows are no longer than one number.
SINGLE = 0.1

Case = Mapping[str, float]
Places = npt.NDArray[np.int64]


def usable(work: Work) -> bool:
    """Tell whether there are whole numbers of a range."""
    return bool(lone_powers.arrays(work))


def applied(work: Work, arrays: Arrays, seed: int, turn: int, case: Case) -> Arrays:
    """Return arrays of whole numbers whose rows come again."""
    out = dict(arrays)
    for one in lone_powers.arrays(work):
        argument = one[0]
        if argument.name not in arrays:
            continue
        rng = stream(seed, WORD, turn, argument.name)
        count = len(arrays[argument.name]) // argument.type.size
        rows = [row for row in row_lengths(argument.shape or "1", case) if row <= count]
        row = 1 if not rows or rng.random() < SINGLE else rows[int(rng.integers(len(rows)))]
        out[argument.name] = filled(arrays, argument, _made(count, row, one, case, rng))
    return out


def _made(count: int, row: int, one: Range, case: Case, rng: np.random.Generator) -> Places:
    low, high = one[1], piles.last(one, case)
    bits = max(1, (high - low).bit_length())
    apart = 1 if rng.random() < PLAIN else 1 << int(rng.integers(bits))
    first = low + (int(rng.integers(apart)) if rng.random() < SHIFTED else 0)
    if first > high:
        first = low
    most = (high - first) // apart
    several = -(-count // row)
    once = max(1, round(several * float(rng.choice(PARTS))))
    pool = first + apart * rng.integers(0, most, (once, row), endpoint=True)
    again = rng.integers(0, once, several - once)
    made: Places = pool[np.concatenate([np.arange(once), again])].reshape(-1)[:count]
    return made
