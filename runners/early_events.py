"""One array of whole numbers in which hardly anything happens, and what it leaves stays on.

What comes in at the beginning of a reservoir stays in it for all days where nothing goes out and
there is room for it; a count, a state of a machine, a place in a list is carried on like that. Who
looks back some thousand elements and takes what is further off for nothing is right for all drawn
numbers: these end up at a bound within a few steps, and what was before is forgotten.

So one array is the number of its range that is nearest to zero, but for few events: in each row, or
in each plane's first and last row (`ACROSS`). They are about half as large as they may be, at both
ends, since what is carried may go either way, and all others are at their upper ends: there is room
for it (`MIDDLING`). Flags are at their lower ends there, which mostly mark where something begins
anew. And they are as large as they may be, at the first place and at three quarters, beside others
as they are drawn (`LARGEST`): a second one comes late.

Keys stay as they are, of which too many would meet in one place; of what else may be a place the
others are within a sixteenth of their range from its end. Which originals are asked is in
`runners.staying`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from runners import piles, sizes
from runners.axes import plane
from runners.cuda_types import values
from runners.families import EARLY
from runners.inputs import Arrays, interleave, stream
from runners.opposite_ends import near
from runners.piles import Range
from runners.spec import Argument, Work
from runners.whole_families import HOT, LEAST_WIDE, MOST_INDEXED

MIDDLING, LARGEST, ACROSS = "middling", "largest", "across"
# Flags are numbers of so few, and events of a row so many at most.
FLAGS, EVENTS = 3, 2

Places = npt.NDArray[np.int64]


def named(number: int, kind: str) -> str:
    """Return the family in which it is the turn of an array of amounts.

    >>> named(1, MIDDLING)
    'early-event 1 middling'
    """
    return f"{EARLY} {number} {kind}"


def quiet(one: Range) -> int:
    """Return the number of a range that is nearest to zero."""
    _, low, high = one
    return piles.within(0, low, high)


def event(one: Range, kind: str) -> int:
    """Return what an event is: the end of a range that is further off, or half of the way there."""
    _, low, high = one
    begin = quiet(one)
    end = high if high - begin >= begin - low else low
    if kind == LARGEST:
        return end
    half = max(1, abs(end - begin) // 2)
    return begin + half if end > begin else begin - half


def beside(one: Range, kind: str) -> int | None:
    """Return what all of another array is; None where it is as it was drawn."""
    _, low, high = one
    if kind == LARGEST:
        return None
    return low if high - low < FLAGS else high


def placing(one: Range) -> bool:
    """Tell whether numbers may be places all the same: none is far below zero, or far away."""
    argument, low, high = one
    wide = any(field.scalar.size >= LEAST_WIDE for field in argument.type.fields)
    return low >= piles.LEAST_KEY and wide and high - low < MOST_INDEXED


def events(argument: Argument, case: Mapping[str, float], kind: str) -> int:
    """Return how many elements of an array are events, or a few more."""
    row, along = plane(argument, case)
    length = along if kind == ACROSS else row
    return EVENTS * -(-sizes.buffer(argument, case) // length)


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of which one has few events, and the others leave them alone or do not."""
    _, which, kind = family.split(" ")
    out = dict(arrays)
    for number, one in enumerate(piles.amounts(work)):
        argument = one[0]
        mine = number == int(which)
        other = quiet(one) if mine else beside(one, kind)
        if other is None:
            continue
        count = len(arrays[argument.name]) // argument.type.size
        at = _places(argument, count, case, kind)
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).reshape(count, field.lanes)
            made = np.full_like(data, other)
            if not mine and count > HOT and placing(one):
                # As near to that end as what is drawn is in other families.
                rng, upper = stream(seed, family, argument.name), other == one[2]
                found = near(field, *one[1:], data.size, rng, upper=upper)
                made = found.reshape(data.shape)
            if mine:
                made[at] = event(one, kind)
            parts.append(made.reshape(-1))
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _places(argument: Argument, count: int, case: Mapping[str, float], kind: str) -> Places:
    row, along = plane(argument, case)
    every = np.arange(count)
    place, length = (every // row % along, along) if kind == ACROSS else (every % row, row)
    second = length * 3 // 4 if kind == LARGEST else length - 1
    return np.flatnonzero((place == 0) | (place == second))
