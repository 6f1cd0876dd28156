"""Powers of two, each in one of several arrays at a time: what keys of few bits take for the same.

Who has an answer for one question takes it for the next one, too, where both have the same key; and
a key is what was asked, shifted, added up or multiplied, in 32 bits. Of (256, 0) and (0, 1) the one
that is made as `(a << 7) ^ (b << 15)` is the same, and chance draws no such pair. So at every
element one of the arrays of this length is a power of two beyond a common number, mostly zero, and
all others are that number: wherever one's bits come to those of another, or are shifted out,
neighbours have the same key. It is run original and candidate side by side (`runners.fuzzing`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import piles
from runners.families import ranges
from runners.inputs import Arrays, filled, stream
from runners.piles import Range
from runners.spec import Work
from runners.whole_families import WIDEST

WORD = "lone powers"
# How often the common number is zero, or what is nearest to it; how often powers are few in a run.
ZERO, FEW_OF = 0.7, 0.4
FEW = 3

Case = Mapping[str, float]
Places = npt.NDArray[np.int64]


def arrays(work: Work) -> list[Range]:
    """Return the arrays that are changed: whole numbers of a range."""
    return [one for one in ranges(work) if -WIDEST < one[1] < one[2] < WIDEST]


def ends(work: Work, case: Case) -> dict[str, tuple[int, int]]:
    """Return the first and the last number of each of these arrays in a case, by its name."""
    return {one[0].name: (one[1], piles.last(one, case)) for one in arrays(work)}


def usable(work: Work) -> bool:
    """Tell whether there are several such arrays of one shape, whose numbers may make one key."""
    shapes = [argument.shape for argument, _, _ in arrays(work)]
    return len(shapes) > len({*shapes})


def applied(work: Work, arrays_: Arrays, seed: int, turn: int, case: Case) -> Arrays:
    """Return arrays of which at each element one of those of its length has a power of two."""
    out = dict(arrays_)
    lengths: dict[int, list[Range]] = {}
    for one in arrays(work):
        if one[0].name in arrays_:
            count = len(arrays_[one[0].name]) // one[0].type.size
            lengths.setdefault(count, []).append(one)
    for count, those in lengths.items():
        whose = stream(seed, WORD, turn, str(count)).integers(0, len(those), count)
        for number, one in enumerate(those):
            argument, low, _ = one
            rng = stream(seed, WORD, turn, argument.name)
            made = _made(low, piles.last(one, case), whose == number, rng)
            out[argument.name] = filled(arrays_, argument, made)
    return out


def _made(low: int, high: int, mine: npt.NDArray[np.bool_], rng: np.random.Generator) -> Places:
    """Return one number of a range, and beyond it by a power of two where the turn is `mine`."""
    near = piles.within(0, low, high)
    if rng.random() >= ZERO:
        near = int(rng.integers(low, high, endpoint=True))
    # Towards the end of the range that is farther off: there most powers fit.
    sign, room = (1, high - near) if high - near >= near - low else (-1, near - low)
    bits = max(1, room.bit_length())
    some = rng.integers(0, bits, FEW) if rng.random() < FEW_OF else np.arange(bits)
    powers = np.left_shift(
        np.int64(1), some[rng.integers(0, len(some), len(mine))].astype(np.int64)
    )
    moved: Any = near + sign * powers
    return np.where(mine, np.clip(moved, low, high), near).astype(np.int64)
