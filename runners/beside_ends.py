"""Whole numbers beside the ends of their ranges, and an end itself late in each row.

Who stops as soon as nothing better may come has worked out what the best is: 127 times the taps of
a chirp, where -128 is a sample, too. At ends alone (`runners.whole_families.at_ends`) he meets what
is beyond his bound at once, and by chance he meets nothing near it. Here all that comes first is at
his bound, and what is beyond it comes behind where he has stopped.

Of all arrays alike, the lower ends and the upper ones, and where there are several, by turns.
"""

from __future__ import annotations

from collections.abc import Mapping

from runners.cuda_types import values
from runners.families import ranges
from runners.inputs import Arrays, interleave
from runners.spec import Work
from runners.whole_families import alike
from runners.whole_numbers import row_lengths

# Numbers of a range at least: of flags none is beside another.
LEAST_RANGE = 4
# An end is at so many parts of a row: behind what any first turn of a block or a warp has seen.
LATE, OF = 15, 16
# Which ends: all lower, all upper, and of each second array the other.
TURNS = 4


def turns(work: Work, seed: int, *, alike: bool = False) -> list[int]:
    """Return a seed, from one on, for each way in which ranges are near their ends.

    `alike`: only for those in which all are at lower ends, or all at upper ones.
    """
    many = _ways(work)
    return [seed + turn for turn in range(many) if not alike or (seed + turn) % many < TURNS // 2]


def _ways(work: Work) -> int:
    many = sum(1 for _, low, high in ranges(work) if _wide(low, high))
    return TURNS if many > 1 else TURNS // 2 * many


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays that are beside an end of their range, but for one number late in each row.

    Of what may be indices no more than `HOT` are the same, as in all families.
    """
    del family
    out = dict(arrays)
    wide = [one for one in ranges(work) if _wide(one[1], one[2])]
    turn = seed % max(1, _ways(work))
    for number, (argument, low, high) in enumerate(wide):
        upper = turn % 2 ^ (turn // 2 & number % 2)
        end, beside = (high, high - 1) if upper else (low, low + 1)
        count = len(arrays[argument.name]) // argument.type.size
        rows = row_lengths(argument.shape or "1", case) or [count]
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field).copy()
            length = rows[0] * field.lanes
            data[: alike(field, low, high, len(data))] = beside
            data[length * LATE // OF :: length] = end
            parts.append(data)
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def _wide(low: int, high: int) -> bool:
    return high - low + 1 >= LEAST_RANGE
