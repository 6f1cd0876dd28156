"""Rows that are all one row but for a place, each time another one.

Who compares eight fields at a time and has forgotten one of a rest of seven, who puts eleven fields
of six bits into one word, who finds a row by a rounded quotient and misses its first element: they
all take rows for the same that differ in one place. Rows that chance draws differ everywhere, and
two that are alike but for the one place are met in no run. So here some rows are the same, and each
other one differs from them in a single place, in turns all places there are: in one bit, by one, or
by any amount; or two of its places have changed places, or are moved on against each other by the
same amount, which no sum tells. It is run original and candidate side by side
(`runners.small_runs`), on sizes that chance draws, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import lone_powers, sizes
from runners.cuda_types import from_float, to_float, values
from runners.families import free
from runners.inputs import Arrays, filled, interleave, stream
from runners.spec import Argument, Work
from runners.whole_numbers import row_lengths

WORD = "one apart"
# Every so many-th row is the common one; so many common ones there are, one after the other.
COMMON_OF, COMMON = (2, 2, 3, 5), (1, 1, 2, 8)
# How often another array is made so as well; how often all common places are one number; how often
# all rows differ in the same place, and two places are changed.
ALSO, FLAT, ONE_PLACE, TWO = 0.4, 0.35, 0.15, 0.3
# How far from each other two places are that have changed places.
TURNS = (1, 2, 3, 4, 8, 16, 32, 64)
# Lengths of rows, how many there are, and elements of a case with them.
LONGEST, FEW_ROWS, MOST_ELEMENTS = 96, 64.0, 1 << 15
# By how much a float is another one: roundings of it, and parts.
STEPS, PARTS = (1, -1, 4), (0.5, -1.0, 2.0, 0.0)

Case = Mapping[str, float]
Places = npt.NDArray[np.int64]
Values = npt.NDArray[Any]


def _arrays(work: Work, case: Case) -> list[tuple[Argument, tuple[int, int] | None]]:
    """Return arrays of two rows or more, and the ends of the range of those of whole numbers."""
    whole = lone_powers.ends(work, case)
    found = []
    for argument in work.arguments:
        ends = whole.get(argument.name)
        if (ends is None or ends[0] == ends[1]) and not free(argument):
            continue
        if argument.elements(case) and _rows(argument, case):
            found.append((argument, ends))
    return found


def cases(work: Work) -> list[dict[str, float]]:
    """Return light cases with rows of each length up to some, for each variable of a row."""
    largest = max((case.values for case in work.cases), key=work.elements)
    shapes = [argument.shape or "1" for argument, _ in _arrays(work, largest)]
    return sizes.with_rows(work, shapes, range(2, LONGEST + 1), FEW_ROWS, MOST_ELEMENTS)


def _rows(argument: Argument, case: Case) -> list[int]:
    """Return the lengths of an array's rows of which it has two or more."""
    every = row_lengths(argument.shape or "1", case)
    return [row for row in every if 2 * row <= argument.elements(case)]


def usable(work: Work, case: Case) -> bool:
    """Tell whether there is an array of two rows or more at a case."""
    return bool(_arrays(work, case))


def applied(work: Work, arrays: Arrays, seed: int, turn: int, case: Case) -> Arrays:
    """Return arrays of which one or more have rows that differ in a place."""
    out, rng = dict(arrays), stream(seed, WORD, turn)
    every = [one for one in _arrays(work, case) if one[0].name in arrays]
    chosen = int(rng.integers(max(1, len(every))))
    for number, (argument, ends) in enumerate(every):
        own = stream(seed, WORD, turn, argument.name)
        if number != chosen and own.random() >= ALSO:
            continue
        count = len(arrays[argument.name]) // argument.type.size
        rows = [row for row in _rows(argument, case) if 2 * row <= count]
        if not rows:
            continue
        row = rows[int(own.integers(len(rows)))]
        if ends is not None:
            made = _numbers(arrays, argument, count, row, ends, own)
            out[argument.name] = filled(arrays, argument, made)
        else:
            out[argument.name] = _floats(arrays, argument, count, row, own)
    return out


def _numbers(
    arrays: Arrays,
    argument: Argument,
    count: int,
    row: int,
    ends: tuple[int, int],
    rng: np.random.Generator,
) -> Places:
    field = argument.type.fields[0]
    data = values(arrays[argument.name], argument.type, field)[:: field.lanes].astype(np.int64)
    low, high = ends
    flat = rng.random() < FLAT
    number = int(rng.choice([low, high, int(rng.integers(low, high, endpoint=True))]))
    common = np.full(count, number) if flat else np.clip(data, low, high)
    kind, bits = int(rng.integers(3)), max(1, (high - low).bit_length())

    def other(found: Places) -> Places:
        by: Places = np.asarray(
            [
                (found - low) ^ (np.int64(1) << rng.integers(0, bits, len(found))),
                found - low + rng.choice((1, -1), len(found)),
                rng.integers(0, high - low, len(found), endpoint=True),
            ][kind],
            np.int64,
        )
        # What is not in the range goes round in it, and is another one.
        by = by % (high - low + 1)
        return low + np.where(by == found - low, (by + 1) % (high - low + 1), by)

    def moved(first: Places, second: Places) -> tuple[Places, Places]:
        """Return two numbers of which one is more by what the other is less."""
        room = np.minimum(high - first, second - low)
        by = np.minimum(room, rng.integers(1, 3, len(first)))
        return first + by, second - by

    return np.asarray(_apart(common, row, rng, other, moved), np.int64)


def _floats(
    arrays: Arrays, argument: Argument, count: int, row: int, rng: np.random.Generator
) -> Values:
    parts = []
    share = argument.init == "uniform"
    for field in argument.type.fields:
        own = np.random.default_rng(int(rng.integers(1 << 32)))
        data = to_float(values(arrays[argument.name], argument.type, field), field.scalar)
        number = float(own.choice([0.0, 0.5 if share else 1.0]))
        common = np.full(len(data), number) if own.random() < FLAT else data
        step = 2 * field.scalar.roundoff

        def other(
            found: Values, own: np.random.Generator = own, step: float = step, data: Values = data
        ) -> Values:
            drawn = data[own.integers(0, len(data), len(found))]
            ways = [
                found * (1 + step * own.choice(STEPS, len(found))),
                found * own.choice(PARTS, len(found)),
                drawn,
            ]
            made = ways[int(own.integers(len(ways)))]
            made = np.where(made == found, drawn, made)
            return np.clip(np.abs(made), 0, 1 - step) if share else made

        def moved(first: Values, second: Values) -> tuple[Values, Values]:
            return second, first

        parts.append(from_float(_apart(common, row * field.lanes, own, other, moved), field.scalar))
    return interleave(parts, argument.type, count)


def _apart(
    common: Values,
    row: int,
    rng: np.random.Generator,
    other: Callable[[Values], Values],
    moved: Callable[[Values, Values], tuple[Values, Values]],
) -> Values:
    """Return rows that are like common ones but for a place; what is less than a row stays."""
    out = common.copy()
    several = len(out) // row
    number = np.arange(several)
    rows = out[: several * row].reshape(several, row)
    kinds = min(several, int(rng.choice(COMMON)))
    turn = number // max(1, -(-several // kinds))
    rows[:] = rows[:kinds][turn]
    every = int(rng.choice(COMMON_OF))
    changed = number[number % every != 0]
    if rng.random() < ONE_PLACE:
        places = np.full(len(changed), int(rng.integers(row)))
    else:
        places = (np.arange(len(changed)) + int(rng.integers(row))) % row
    if rng.random() >= TWO or row == 1:
        rows[changed, places] = other(rows[changed, places])
        return out
    second = (places + int(rng.choice([turn for turn in TURNS if turn < row]))) % row
    first_, second_ = rows[changed, places].copy(), rows[changed, second].copy()
    if rng.random() < TWO:
        first_, second_ = moved(first_, second_)
    else:
        first_, second_ = second_, first_
    rows[changed, places], rows[changed, second] = first_, second_
    return out
