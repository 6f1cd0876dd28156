"""Shares that are less than one by a few of their last places.

A double that was drawn as a share has the digits of a float, and is never nearer to one than a
float is. What is repeated until it comes to an end takes longer there, and made a float it is one.
None is so near that moving it by one rounding error makes it one: what that changes is what an
original, and right code with it, errs by there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from runners.cuda_types import Scalar, values
from runners.families import captured_work
from runners.inputs import Arrays, interleave, stream
from runners.spec import Argument, Work

# One of so many is such; of so many where whole numbers are made of them, of which rounding may
# change one in a thousand.
ONE_OF, ONE_OF_WHOLE = 64, 1024
# By how many last places: the next one would be moved to one.
STEPS = (3, 9)
# Half of the doubles are less than one by a power of two, from what floats have on.
NARROWEST = 25


def asked(work: Work) -> bool:
    """Tell whether there are floats or doubles that are shares."""
    return not captured_work(work) and any(True for _ in _shares(work))


def _shares(work: Work) -> Iterator[Argument]:
    for argument in work.arguments:
        only = argument.type.scalar
        share = argument.type.pointer and argument.role != "output" and argument.init == "uniform"
        if share and only is not None and only.name in {"float", "double"}:
            yield argument


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of which some shares are nearly one."""
    del case
    out = dict(arrays)
    whole = any(f.scalar.kind != "f" for a in work.arguments if a.written for f in a.type.fields)
    for argument in _shares(work):
        if argument.name not in arrays:
            continue
        kind, one = argument.type, argument.type.fields[0]
        data = values(arrays[argument.name], kind, one).copy()
        rng = stream(seed, family, argument.name)
        many = min(len(data), max(1, len(data) // (ONE_OF_WHOLE if whole else ONE_OF)))
        at = rng.choice(len(data), many, replace=False)
        data[at] = 1 - _gaps(one.scalar, many, rng)
        out[argument.name] = interleave([data], kind, len(data) // one.lanes)
    return out


def _gaps(scalar: Scalar, many: int, rng: np.random.Generator) -> npt.NDArray[np.float64]:
    """Return by how much numbers are less than one."""
    gaps = np.asarray(rng.integers(*STEPS, many) * scalar.roundoff, np.float64)
    if scalar.name == "double":
        last = -int(np.log2(scalar.roundoff))
        powers = np.ldexp(1.0, -rng.integers(NARROWEST, last - 2, many))
        gaps[1::2] = powers[1::2]
    return gaps
