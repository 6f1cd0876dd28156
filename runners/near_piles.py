"""Nearly all one number, beside few others: what is lost of many shows in what is made of both.

A pile that is all one number (`runners.piles`) shows who adds up in few bits by the sums and counts
that come out. Where none does, it shows nothing: of people who are all of one opinion the mean is
that opinion, however many of them a count of 16 bits has lost, and the largest of counts is where
it was. Beside a quarter that are another number what is lost moves a mean, a share, a rank. And
where a number counts only if a flag beside it is set, as of a patient who is in a group, all flags
drawn at random leave a half of it, and of three of them an eighth.

So here three of four numbers of each array that is only read are one of its range, the others lower
ones near it, and of flags fifteen of sixteen are set, or as many are not. They are drawn anew in
each array. Keys are the two that there are at any size. Amounts are so near zero that sums of them,
and of products of three, fit into an original's words, and those that come out as floats into what
floats hold exactly. Results may be floats, as long as nothing that is read is one.

Which originals are asked, and how, is in `runners.nearly_piled`.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from runners import isolated, piles, sizes
from runners.cuda_types import values
from runners.families import NEARLY_PILED_LOW
from runners.inputs import Arrays, interleave, stream
from runners.piles import Range
from runners.spec import Work

# Of so many numbers one is another one; of flags, one of so many.
OTHERS, UNSET = 4, 16
# What whole numbers are exact in a float.
EXACT = 1 << 24
# Contents repeat after so many, which no block divides.
PERIOD = (1 << 20) - 3

Case = Mapping[str, float]


def applied(family: str, work: Work, arrays: Arrays, seed: int, case: Case) -> Arrays:
    """Return arrays that are only read as nearly one number each, drawn anew for each.

    Of a longer array the first numbers are the same: what comes of them is likely to be, too.
    """
    del case
    out = dict(arrays)
    for one in piles.read(work):
        argument, low, high = one
        chosen, other = (stream(seed, family, argument.name, which) for which in ("one", "other"))
        first, last = numbers(work, one)
        parts = []
        for field in argument.type.fields:
            data = values(arrays[argument.name], argument.type, field)
            many = min(len(data), PERIOD)
            if high - low == 1:
                usual, rest = (low, high) if family == NEARLY_PILED_LOW else (high, low)
                drawn = np.where(chosen.integers(0, UNSET, many) == 0, rest, usual)
            else:
                others = other.integers(first, max(first + 1, last), many)
                drawn = np.where(chosen.integers(0, OTHERS, many) == 0, others, last)
            parts.append(np.resize(drawn.astype(data.dtype), len(data)))
        count = len(arrays[argument.name]) // argument.type.size
        out[argument.name] = interleave(parts, argument.type, count)
    return out


def numbers(work: Work, one: Range) -> tuple[int, int]:
    """Return the first and the last number of an array: of keys two, of amounts a few near zero.

    They are the same in all cases, so that what comes of a higher pile is told by lower ones.
    """
    _, low, high = one
    if piles.is_key(work, one):
        return piles.within(0, low, high), piles.within(1, low, high)
    room = piles.words(work) if piles.whole_results(work) else EXACT
    longest = max((sizes.largest(work, name) for name in sizes.sizing(work)), default=1.0)
    most = int((room / (sizes.TIMES_LONGER * longest)) ** (1 / isolated.FACTORS))
    return isolated.numbers(low, high, most)
