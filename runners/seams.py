"""Stretches that end where words, warps and tiles do.

A run that ends with a word and another that begins with the next but one, a sign that changes with
the first element of a tile, an only element that is the last of its block: there what is carried
from one to the next is handed on wrongly, and chance puts an event just there in one row of many
thousands. So rows are cut into stretches of 8 to 1,024 places, and each stretch is all one number,
or has others throughout, or in its first place alone, its last one, in both, or everywhere else.
Other arrays are of small numbers, as lengths of such runs are, or as they were declared. It is run
original and candidate side by side (`runners.small_runs`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import lone_powers, piles, sizes
from runners.cuda_types import from_float, to_float, values
from runners.families import free
from runners.inputs import Arrays, filled, interleave, stream
from runners.spec import Argument, Work
from runners.whole_numbers import shortest_row

WORD = "seams"
# Places of a stretch, and how many kinds of stretches a row has.
STRETCHES, KINDS = (8, 16, 32, 32, 64, 64, 128, 256, 512, 1024), (2, 2, 3, 5)
# How often it is the array of the longest rows; how often another one has stretches as well, or
# small numbers.
LONGEST, ALSO, SMALL = 0.7, 0.2, 0.85
# How often a stretch has no others; how often these are one number, and small ones are nothing.
NONE, ALONE, NOTHING = (0.0, 0.3, 0.6), 0.7, 0.5
# Lengths of rows in which several stretches are behind each other, how many rows there are, and
# elements of a case with them.
LENGTHS, FEW_ROWS, MOST_ELEMENTS = (129, 193, 300, 520, 1100), 33.0, 1 << 17
# How many small numbers there are.
FEW = (1, 2, 3, 9)

Case = Mapping[str, float]
Values = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
Ends = tuple[int, int]


def _arrays(work: Work, case: Case) -> list[tuple[Argument, Ends | None]]:
    """Return arrays of more than a stretch, and the ends of the range of whole numbers."""
    whole = lone_powers.ends(work, case)
    found = []
    for argument in work.arguments:
        ends = whole.get(argument.name)
        if ends is not None and ends[0] == ends[1]:
            continue
        if ends is not None or free(argument):
            found.append((argument, ends))
    return found


def usable(work: Work, case: Case) -> bool:
    """Tell whether there is an array with rows of more than the shortest stretch."""
    return any(_row(argument, case) > min(STRETCHES) for argument, _ in _arrays(work, case))


def cases(work: Work) -> list[dict[str, float]]:
    """Return cases of some rows that are several stretches long, for each variable of a row."""
    largest = max((case.values for case in work.cases), key=work.elements)
    shapes = [argument.shape or "1" for argument, _ in _arrays(work, largest)]
    return sizes.with_rows(work, shapes, LENGTHS, FEW_ROWS, MOST_ELEMENTS)


def _row(argument: Argument, case: Case) -> int:
    """Return how long the rows of an array are; all of it where it has none."""
    return shortest_row(argument.shape or "1", case, argument.elements(case))


def applied(work: Work, arrays: Arrays, seed: int, turn: int, case: Case) -> Arrays:
    """Return arrays of which one or more are in stretches."""
    out, rng = dict(arrays), stream(seed, WORD, turn)
    every = [one for one in _arrays(work, case) if one[0].name in arrays]
    long = [at for at, one in enumerate(every) if _row(one[0], case) > min(STRETCHES)]
    if not long:
        return out
    chosen = max(long, key=lambda at: _row(every[at][0], case))
    if rng.random() >= LONGEST:
        chosen = long[int(rng.integers(len(long)))]
    stretch, kinds = int(rng.choice(STRETCHES)), int(rng.integers(1 << 32))
    longest = _row(every[chosen][0], case)
    if stretch >= longest:
        # Half of it at most: of one stretch none is behind another.
        stretch = max(min(STRETCHES), 1 << max(0, (longest // 2).bit_length() - 1))
    for number, (argument, ends) in enumerate(every):
        own, dice = stream(seed, WORD, turn, argument.name), rng.random()
        count = len(arrays[argument.name]) // argument.type.size
        row = max(1, _row(argument, case))
        if number == chosen or (dice < ALSO and row > min(STRETCHES)):
            where = _mask(count, row, stretch, np.random.default_rng(kinds), own)
            out[argument.name] = _of(arrays, argument, ends, where, own)
        elif dice < SMALL and ends is not None:
            near = piles.within(0 if own.random() < NOTHING else 1, *ends)
            few = min(int(own.choice(FEW)), ends[1] - near + 1)
            numbers = near + own.integers(0, few, count)
            out[argument.name] = filled(arrays, argument, numbers)
    return out


def _mask(
    count: int, row: int, stretch: int, kinds: np.random.Generator, rng: np.random.Generator
) -> Mask:
    """Return where other numbers are: by which kind of stretch each is."""
    at = np.arange(count) % row
    last = np.minimum((at // stretch + 1) * stretch, row) - 1
    first, end = at % stretch == 0, at == last
    one = np.ones(count, np.bool_)
    every = np.stack([~one, one, first, first, end, end, first | end, ~first, ~end])
    some = 1 + kinds.permutation(len(every) - 1)[: int(kinds.choice(KINDS))]
    # The stretches of all rows, one behind the other.
    each = -(-row // stretch)
    which = np.arange(count) // row * each + at // stretch
    drawn = some[rng.integers(0, len(some), int(which.max(initial=0)) + 1)]
    drawn = np.where(rng.random(len(drawn)) < kinds.choice(NONE), 0, drawn)
    return np.asarray(every[drawn[which], np.arange(count)], np.bool_)


def _of(
    arrays: Arrays, argument: Argument, ends: Ends | None, where: Mask, rng: np.random.Generator
) -> Values:
    if ends is not None:
        low, high = ends
        near = piles.within(0, low, high)
        single = [piles.within(near + 1, low, high), high, low, int(rng.integers(low, high + 1))]
        other: Any = single[int(rng.integers(len(single)))]
        if other == near or rng.random() >= ALONE:
            other = rng.integers(low, high, len(where), endpoint=True)
        return filled(arrays, argument, np.where(where, other, near))
    parts = []
    alone, sign = rng.random() < ALONE, float(rng.choice((1.0, -1.0)))
    for field in argument.type.fields:
        data = to_float(values(arrays[argument.name], argument.type, field), field.scalar)
        lanes = np.repeat(where, field.lanes)
        given = np.full(len(data), 0.5 if argument.init == "uniform" else sign) if alone else data
        parts.append(from_float(np.where(lanes, given, 0.0), field.scalar))
    return interleave(parts, argument.type, len(where))
