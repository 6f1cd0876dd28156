"""Other numbers in floats that were declared to be all the same.

Who declares `ones` or `zeros` for floats that are only read picks a filler for radii, weights or
biases. Where all are alike, the least of differences is the difference of the least, and a factor
may stand before a sum or behind it. What is written, and what a sum begins with
(`runners.families.STARTED`), stays as it is, and so do whole numbers, which may be flags, places or
counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from runners.cuda_types import Storage, from_float, values
from runners.families import filler
from runners.inputs import Arrays, interleave, stream
from runners.spec import Argument, Work

# Parts of a one that floats get, near enough to mean the same: a scale, a weight, a radius.
LEAST, MOST = 0.5, 1.5


def refilled(work: Work, arrays: Arrays, seed: int, others: Arrays) -> Arrays:
    """Return inputs in which floats that were all alike are not, beside all others as given."""
    out = dict(others)
    for argument in work.arguments:
        alike = filler(argument)
        if alike is not None and argument.name in arrays:
            out[argument.name] = _drawn(argument, alike, arrays[argument.name], seed)
    return out


def _drawn(argument: Argument, alike: float, data: Storage, seed: int) -> Storage:
    """Draw from half of a number up to one and a half; of zeros every second one, from 0 to 1."""
    kind = argument.type
    rng = stream(seed, "fillers", argument.name)
    parts: list[npt.NDArray[Any]] = []
    for field in kind.fields:
        before = values(data, kind, field)
        if field.scalar.kind != "f":
            parts.append(before)
            continue
        drawn = rng.random(len(before))
        if alike:
            found = alike * (LEAST + (MOST - LEAST) * drawn)
        else:
            # Half of them, and in no pattern that rows have.
            found = np.where(rng.permutation(len(before)) % 2 == 1, drawn, 0.0)
        parts.append(from_float(found, field.scalar))
    return interleave(parts, kind, data.nbytes // kind.size)
