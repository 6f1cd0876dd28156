"""Two numbers and little else, where sizes are large: at the ends of rows, or in turns.

Who looks back over so many elements and no more, or begins so far ahead, has all of a row to go
where nothing stands between its ends and these are opposite. And where two numbers take turns, in
each array a place further than in the one before, what happens at a change happens as often as it
may, and all of it one way: a track that bends left at each of its points. Chance draws neither. It
is run original and candidate side by side (`runners.far_cases`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from runners import nearly_one, piles, sizes
from runners.cuda_types import from_float
from runners.inputs import Arrays, filled, interleave
from runners.nearly_one import Case
from runners.spec import Argument, Work
from runners.whole_families import WIDEST
from runners.whole_numbers import shortest_row

# Turns in which the ends of rows are opposite, one way and the other; how often each number stands
# in those in which they take turns, and how many places an array is further than the one before.
ENDS, PERIODS = 2, ((1, 1), (2, 1), (2, -1), (3, 1))


def turns(work: Work) -> range:
    """Return the turns of `applied`."""
    usable = nearly_one.usable(work) or nearly_one.floats(work)
    return range(ENDS + len(PERIODS) if usable else 0)


def applied(work: Work, arrays: Arrays, turn: int, case: Case) -> Arrays:
    """Return arrays of two numbers, at both ends of each row or in turns."""
    out = dict(arrays)
    whole = nearly_one.usable(work)
    for number, one in enumerate(whole):
        low, high = nearly_one.bounds(work, one, case)
        low, high = max(low, -WIDEST), min(high, WIDEST)
        if low > high:
            continue  # Of nothing but numbers beyond these.
        near = piles.within(0, low, high)
        # Where nothing is below zero the least that is something stands at one end.
        less = low if low < near else piles.within(near + 1, low, high)
        pair = (high, less) if turn < ENDS else (near, high)
        made = _made(one[0], case, turn, number, pair, near)
        out[one[0].name] = filled(out, one[0], made)
    for number, argument in enumerate(nearly_one.floats(work), len(whole)):
        pair_ = (0.5, 0.25) if argument.init == "uniform" else (1.0, -1.0)
        made = _made(argument, case, turn, number, pair_, 0.0)
        parts = [
            from_float(np.repeat(made, field.lanes), field.scalar) for field in argument.type.fields
        ]
        out[argument.name] = interleave(parts, argument.type, len(made))
    return out


def _made(
    argument: Argument,
    case: Case,
    turn: int,
    number: int,
    pair: tuple[float, float],
    between: float,
) -> npt.NDArray[Any]:
    """Return an array of two numbers; `number` says how many are before it."""
    count = sizes.buffer(argument, case)
    first, last = pair if turn != ENDS - 1 else pair[::-1]
    if turn >= ENDS:
        often, way = PERIODS[turn - ENDS]
        return np.where((np.arange(count) + way * number) // often % 2, last, first)
    row = max(1, shortest_row(argument.shape or "1", case, count))
    made = np.full(count, between)
    made[row - 1 :: row] = last
    made[::row] = first
    return made
