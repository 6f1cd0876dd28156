"""Rows that have each number of a range once, and rows of just as many places.

A row of 26 letters may have all of them, and no row of 25 has: whoever returns at once where rows
are too short is off by one there, and so is who has room for one number less, or takes what was met
so often for complete. Chance puts 26 letters into 26 places once in fifteen billion rows. So arrays
of a small range have each number of it as often as all others, in an order that is each row's own,
or all numbers but one, in all rows or in some. Beside cases that are run anyway (`runners.fuzzing`)
there are those whose rows have as many places as the range has numbers, one less, and one more.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from runners import lone_powers, piles, sizes
from runners.expressions import names
from runners.inputs import Arrays, filled, stream
from runners.piles import Range
from runners.spec import Work
from runners.whole_numbers import row_lengths

WORD = "each once"
# Numbers of a range; cases, and elements of all orders that are each row's own.
LEAST, MOST, CASES, MOST_ELEMENTS = 3, 1 << 12, 9, 1 << 22
# How often one number is missing, only some rows are so, and rows are as long as they are declared.
MISSING, SOME, BY_ROWS = 0.3, 0.3, 0.7

Case = Mapping[str, float]
Places = npt.NDArray[np.int64]


def usable(work: Work, case: Case) -> bool:
    """Tell whether there is an array of a small range at a case."""
    return any(True for one in lone_powers.arrays(work) if _numbers(one, case))


def _numbers(one: Range, case: Case) -> int:
    """Return how many numbers a range has in a case; none where these are few or many."""
    found = piles.last(one, case) - one[1] + 1
    return found if LEAST <= found <= MOST else 0


def cases(work: Work) -> list[dict[str, float]]:
    """Return light cases with a variable of an array's shape beside how many numbers it has."""
    declared = [dict(case.values) for case in work.cases]
    found: list[dict[str, float]] = []
    for one in lone_powers.arrays(work):
        argument, many = one[0], _numbers(one, declared[0])
        if argument.end or not many:
            continue
        for name in sorted(names(argument.shape or "1") & {*sizes.changing(work)}):
            for size in (many, many + 1, many - 1):
                case = sizes.light_with(work, name, size)
                if case is not None and case not in (*declared, *found):
                    found.append(case)
    return found[:CASES]


def applied(work: Work, arrays: Arrays, seed: int, turn: int, case: Case) -> Arrays:
    """Return arrays of small ranges whose rows have each number of them, or all but one."""
    out = dict(arrays)
    for one in lone_powers.arrays(work):
        argument, many = one[0], _numbers(one, case)
        if not many or argument.name not in arrays:
            continue
        rng = stream(seed, WORD, turn, argument.name)
        count = len(arrays[argument.name]) // argument.type.size
        rows = row_lengths(argument.shape or "1", case)
        by_rows = rows and rng.random() < BY_ROWS
        row = rows[int(rng.integers(len(rows)))] if by_rows else many
        out[argument.name] = filled(arrays, argument, one[1] + _made(count, row, many, rng))
    return out


def _made(count: int, row: int, many: int, rng: np.random.Generator) -> Places:
    """Return numbers from zero on, each of so many as often as others in each row."""
    at = np.arange(count)
    several = -(-count // row)
    own = several * max(row, many) <= MOST_ELEMENTS
    orders = np.tile(np.arange(many), (several if own else 1, 1))
    orders = rng.permuted(orders, axis=1)
    made: Places = orders[at // row % len(orders), at % row % many]
    if rng.random() < MISSING:
        gone, other = rng.choice(many, 2, replace=False)
        made = np.where(made == gone, other, made)
    if rng.random() < SOME:
        without = rng.integers(0, 2, several).astype(bool)
        made = np.where(without[at // row], int(rng.integers(many)), made)
    return made
