"""Doubles that are infinite as floats, of either sign, and doubles that are zero as floats.

Which candidates they are asked of is in `runners.narrowed`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from runners.cuda_types import values
from runners.families import BENEATH_FLOATS, BEYOND_FLOATS
from runners.inputs import FREE, Arrays, interleave, stream
from runners.spec import Argument, Work

# Powers of two: their squares and cubes are doubles.
POWERS = {BEYOND_FLOATS: 133, BENEATH_FLOATS: -160}


def doubles(work: Work) -> Iterator[Argument]:
    """Yield the arrays of doubles of any size that go in."""
    for argument in work.arguments:
        only = argument.type.scalar
        free = argument.type.pointer and argument.role != "output" and argument.init in FREE
        if free and only is not None and only.name == "double":
            yield argument


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays whose doubles are no floats; those beyond them are of either sign."""
    del case
    out = dict(arrays)
    for argument in doubles(work):
        if argument.name not in arrays:
            continue
        kind, one = argument.type, argument.type.fields[0]
        data = np.ldexp(values(arrays[argument.name], kind, one), POWERS[family])
        if family == BEYOND_FLOATS:
            rng = stream(seed, family, argument.name)
            data = np.where(rng.random(len(data)) < 0.5, -data, data)
        out[argument.name] = interleave([data], kind, len(data) // one.lanes)
    return out
