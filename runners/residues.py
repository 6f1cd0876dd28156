"""Few whole numbers next to multiples of what an original's text names.

Who reduces by a modulus once too few leaves the modulus itself where zero is meant; who counts days
in weeks is a week off at its end. That shows where a sum is just a multiple, which chance comes to
once in a milliard, and in few numbers at once: one row of zeros, ones and what is one less than the
modulus adds up to it again and again. So each array of whole numbers has a few of these and no
others, zero and one and minus one beyond a multiple, all over or in each row others. It is run
original and candidate side by side (`runners.small_runs`).
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from runners import lone_powers, piles
from runners.inputs import Arrays, filled, stream
from runners.spec import Work
from runners.whole_numbers import row_lengths

WORD = "residues"
# How often an array stays as it was declared, and each row has numbers of its own.
DECLARED_OF, BY_ROWS = 0.1, 0.4
# How many numbers there are, how far from a multiple, and how often it is the lowest there is.
FEW, BESIDE, LOWEST = (1, 2, 2, 3, 5), (0, 1, -1, 1, -1, 2, -2), 0.5

Case = Mapping[str, float]
Places = npt.NDArray[np.int64]


def usable(work: Work) -> bool:
    """Tell whether there are arrays with room for a multiple of a number of the original's text."""
    return any(_steps(work, low, high) for _, low, high in lone_powers.arrays(work))


def _steps(work: Work, low: int, high: int) -> list[int]:
    """Return the numbers of a text that are within a range, and not below it."""
    return [one for one in work.steps if low <= one <= high and one > 1]


def applied(work: Work, arrays: Arrays, seed: int, turn: int, case: Case) -> Arrays:
    """Return arrays of which each has few numbers, all of them next to multiples."""
    out = dict(arrays)
    common = stream(seed, WORD, turn)
    for one in lone_powers.arrays(work):
        argument, low, high = one[0], one[1], piles.last(one, case)
        steps = _steps(work, low, high)
        rng = stream(seed, WORD, turn, argument.name)
        if argument.name not in arrays or not steps or rng.random() < DECLARED_OF:
            continue
        step = steps[int(common.integers(1 << 16)) % len(steps)]
        count = len(arrays[argument.name]) // argument.type.size
        rows = row_lengths(argument.shape or "1", case)
        row = rows[0] if rows and rng.random() < BY_ROWS else max(1, count)
        several, kinds = -(-count // row), int(rng.choice(FEW))
        first, last = -(-low // step), high // step
        times = rng.integers(first, last, (several, kinds), endpoint=True)
        lowest = min(last, max(first, 0))
        times = np.where(rng.random(times.shape) < LOWEST, lowest, times)
        # What is below its range at the lowest multiple is beside the next one, if there is one.
        found = times * step + rng.choice(BESIDE, times.shape)
        found = np.where(found < low, found + step, found)
        found = np.clip(found, low, high)
        places = np.arange(count) // row
        out[argument.name] = filled(arrays, argument, found[places, rng.integers(0, kinds, count)])
    return out
