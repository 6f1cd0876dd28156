"""Floats that differ in their last places alone: a difference of squares leaves nothing of these.

A variance in doubles about the mean is right for any common offset. As a mean of squares less the
square of the mean it is right in doubles until the spread is near a float's last place, and nothing
is left of it there. Moving such inputs by one rounding error would say that anything is right, so
that they are not moved: instead the original is run with another offset. What differs only as the
offsets do is what it works out well; where anything else differs nothing is asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import spoilt
from runners.cuda_types import from_float, to_float, values
from runners.families import LAST_PLACES
from runners.inputs import Arrays, interleave
from runners.run import Run
from runners.spec import Argument, BaselineFailure, Work

# Two offsets between 2^24 and 2^25, where floats are even, and steps of these to either side.
OFFSETS, STEP, MOST_STEPS, PER_SPREAD = (21345678.0, 28765432.0), 2.0, 4, 1.5
ELSEWHERE = f"{LAST_PLACES}:elsewhere"
# So many roundings of a float, of a result and of typical ones, may two runs differ by.
ROUNDINGS = 4 * 2.0**-24

Floats = npt.NDArray[np.float64]


def asked(work: Work) -> bool:
    """Tell whether there are such arrays, and results in which little else shows."""
    doubles = any(
        one.scalar.name == "double"
        for argument in work.arguments
        if argument.written
        for one in argument.type.fields
    )
    return not doubles and any(True for _ in usable(work))


def usable(work: Work) -> Iterator[Argument]:
    """Yield the arrays of floats of 32 bits that may be near any number."""
    for argument in work.arguments:
        only = argument.type.scalar
        single = only is not None and only.name == "float" and argument.init == "normal"
        if single and argument.type.pointer and argument.role != "output":
            yield argument


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of floats near one number, a few steps apart."""
    del seed, case
    out = dict(arrays)
    least = spoilt.least(work, arrays)
    for argument in usable(work):
        name = argument.name
        if name not in arrays or len(arrays[name]) // argument.type.size < least:
            continue
        kind, one = argument.type, argument.type.fields[0]
        wide = to_float(values(arrays[name], kind, one), one.scalar)
        steps = np.clip(np.rint(PER_SPREAD * wide), -MOST_STEPS, MOST_STEPS)
        made = OFFSETS[family == ELSEWHERE] + STEP * steps
        out[name] = interleave([from_float(made, one.scalar)], kind, len(made) // one.lanes)
    return out


def defined(work: Work, first: Run, elsewhere: Sequence[Run]) -> None:
    """Raise `BaselineFailure` where results with another offset differ by more than the offsets."""
    if not elsewhere:
        raise BaselineFailure("nothing tells what the original makes of another offset")
    for argument in work.arguments:
        for one in argument.type.fields if argument.written else ():
            data: list[npt.NDArray[Any]] = [
                values(run.outputs[argument.name], argument.type, one)
                for run in (first, *elsewhere)
            ]
            if one.scalar.kind != "f":
                fine = all(np.array_equal(data[0], other) for other in data[1:])
            else:
                mine, *others = (to_float(each, one.scalar) for each in data)
                fine = all(_alike(mine, other) for other in others)
            if not fine:
                raise BaselineFailure(f"{argument.name} depends on an offset of all floats")


def _alike(mine: Floats, other: Floats) -> bool:
    """Tell whether two results are the same but for rounding, or for the offsets themselves."""
    if not (np.isfinite(mine).all() and np.isfinite(other).all()):
        return False
    for apart in (0.0, OFFSETS[1] - OFFSETS[0]):
        typical = float(np.sqrt(np.mean(mine**2))) if len(mine) else 0.0
        bound = ROUNDINGS * (np.abs(mine) + typical)
        if bool((np.abs(other - mine - apart) <= bound).all()):
            return True
    return False
