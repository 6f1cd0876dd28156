"""Whole numbers that are nearly all one, in each array another one, where sizes are large.

Counts of few bits, tables of few places and tiles that are carried on show in cases as large as a
candidate has to be right for, and of these only where much meets: all of it in one group, most of
it marked, at one time. Families that were made for that change all arrays in their way, along one
size. Here chance decides for each array, as `runners.crossed` does in small cases: which number
nearly all of it is (an end of its range, one near zero, any), and where there are others (nowhere,
in a few places, before or behind a place, in turns, in every second row).

What is added up in an original's words has to fit into them, or nothing is promised: what is no key
is no larger than so many of it have room for. Floats are such whose sums are exact, or any one:
what counts those that are alike has most to count where all of them are.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from runners import isolated, piles, sizes
from runners.cuda_types import Storage, from_float, values
from runners.families import free
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Argument, Work
from runners.whole_numbers import row_lengths

WORD = "nearly one"
# How often an array stays as it was declared, and how often all of it is one number.
DECLARED_OF, ONE_OF = 0.15, 0.45
# How often the others are alike in their lower bytes, by whose bits.
ALIKE_BELOW, BYTES = 0.15, (8, 16, 24, 32)
# Of what few others there are, and in what turns.
FEW = (1, 2, 3, 17, 1000)
TURNS = (2, 3, 32, 256, 1000)
# Whether arrays are at the last numbers of their ranges, the first of them and the next.
ENDS = ((1, 1), (0, 0), (1, 0), (0, 1))
# What nearly all floats are, and the others.
FLOATS, SHARES = (1.0, 0.0, 0.5, -1.0, 2.0), (0.5, 0.0, 0.25)
Case = Mapping[str, float]
Places = npt.NDArray[np.bool_]


def usable(work: Work) -> list[Range]:
    """Return the arrays that are changed: only read, and of more than one number."""
    return [one for one in piles.read(work) if one[2] > one[1]]


def floats(work: Work) -> list[Argument]:
    """Return the arrays of floats that are changed: only read, and of any number."""
    return [one for one in work.arguments if not one.written and free(one)]


def ends(work: Work) -> range:
    """Return the turns of `at_ends`: all arrays at one end of their ranges, or by turns."""
    many = len(usable(work)) + len(floats(work))
    return range(len(ENDS) if many > 1 else 2 * many)


def at_ends(work: Work, arrays: Arrays, turn: int, case: Case) -> Arrays:
    """Return arrays that are all the first number of their ranges, or the last."""
    out = dict(arrays)
    for number, one in enumerate(usable(work)):
        argument = one[0]
        low, high = bounds(work, one, case)
        end = high if ENDS[turn % len(ENDS)][number % 2] else low
        parts = [
            np.full_like(values(arrays[argument.name], argument.type, field), end)
            for field in argument.type.fields
        ]
        out[argument.name] = interleave(parts, argument.type, sizes.buffer(argument, case))
    for number, argument in enumerate(floats(work), len(usable(work))):
        made = _kinds(argument)[0] if ENDS[turn % len(ENDS)][number % 2] else 0.0
        out[argument.name] = _alike(argument, case, (made, made), None)
    return out


def _kinds(argument: Argument) -> tuple[float, ...]:
    """Return what nearly all of an array of floats are: of shares no more than a part of one."""
    return SHARES if argument.init == "uniform" else FLOATS


def _alike(
    argument: Argument, case: Case, numbers: tuple[float, float], others: Places | None
) -> Storage:
    """Return floats that are all one number, but for others where there are any."""
    count = sizes.buffer(argument, case)
    parts = []
    for field in argument.type.fields:
        data = np.full(count * field.lanes, numbers[0])
        if others is not None:
            data[np.resize(others, len(data))] = numbers[1]
        parts.append(from_float(data, field.scalar))
    return interleave(parts, argument.type, count)


def applied(work: Work, arrays: Arrays, seed: int, turn: int, case: Case) -> Arrays:
    """Return arrays of which each is nearly all one number."""
    out = dict(arrays)
    for one in usable(work):
        argument = one[0]
        rng = stream(seed, WORD, turn, argument.name)
        if rng.random() < DECLARED_OF:
            continue
        first, second = _numbers(bounds(work, one, case), rng)
        count = sizes.buffer(argument, case)
        row = min(row_lengths(argument.shape or "1", case), default=count)
        others = _others(count, max(1, row), rng)
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            data[:] = first
            data[np.resize(others, len(data))] = second
            parts.append(data)
        out[argument.name] = interleave(parts, argument.type, count)
    for argument in floats(work):
        rng = stream(seed, WORD, turn, argument.name)
        if rng.random() >= DECLARED_OF:
            out[argument.name] = _nearly(argument, case, rng)
    return out


def _nearly(argument: Argument, case: Case, rng: np.random.Generator) -> Storage:
    """Return floats that are nearly all one number."""
    kinds = [*_kinds(argument), float(rng.random())]
    one, other = (kinds[int(at)] for at in rng.integers(0, len(kinds), 2))
    count = sizes.buffer(argument, case)
    row = min(row_lengths(argument.shape or "1", case), default=count)
    return _alike(argument, case, (one, other), _others(count, max(1, row), rng))


def bounds(work: Work, one: Range, case: Case) -> tuple[int, int]:
    """Return the range of an array; of amounts the part that is added up in an original's words."""
    low, high = one[1], piles.last(one, case)
    return (low, high) if piles.is_key(work, one) else _room(work, case, low, high)


def alike_below(low: int, high: int, rng: np.random.Generator) -> tuple[int, int]:
    """Return by how much numbers of a range are apart whose bytes below some one are the same."""
    most = [bits for bits in BYTES if 1 << bits <= high - low] or [0]
    apart = 1 << int(rng.choice(most))
    return apart, -apart


def _numbers(within: tuple[int, int], rng: np.random.Generator) -> tuple[int, int]:
    """Return the number of nearly all, and that of the others."""
    low, high = within
    near = int(rng.integers(low, high, endpoint=True))
    kinds = [low, high, high, piles.within(0, low, high), piles.within(1, low, high), near]
    first, second = (kinds[int(at)] for at in rng.integers(0, len(kinds), 2))
    if rng.random() < ALIKE_BELOW:
        apart = [one for one in alike_below(low, high, rng) if low <= first + one <= high]
        second = first + apart[0] if apart else second
    if first == second:
        second = int(rng.integers(low, high, endpoint=True))
    return first, second


def _room(work: Work, case: Case, low: int, high: int) -> tuple[int, int]:
    """Return the part of a range of which all there is can be added up and multiplied.

    Where there is none of it beside zero, the number that is nearest to zero alone.
    """
    many = max((sizes.buffer(argument, case) for argument, *_ in usable(work)), default=1)
    # One, as of a flag, may be in all of it: it stays what it is when it is multiplied.
    most = max(1, isolated.room(work, many))
    nearest = piles.within(0, low, high)
    return max(low, min(nearest, -most)), min(high, max(nearest, most))


def _others(count: int, row: int, rng: np.random.Generator) -> Places:
    """Return where an array has other numbers."""
    found = np.zeros(count, np.bool_)
    if rng.random() < ONE_OF or not count:
        return found
    kind = int(rng.integers(5))
    if kind == 0:
        found[rng.integers(0, count, int(rng.choice(FEW)))] = True
    elif kind == 1:
        found[: int(rng.integers(count))] = True
    elif kind == 2:
        found[int(rng.integers(count)) :] = True
    elif kind == 3:
        found[:: int(rng.choice(TURNS))] = True
    else:
        found[:] = np.arange(count) // row % 2 == 1
    return found
