"""Inputs moved by what rounding may do to them: so exact can an output be asked to be.

No families: their values are those of one, but for the last digits, or for what overflows.
"""

from __future__ import annotations

import numpy as np

from runners import captured
from runners.cuda_types import Scalar, from_float, to_float, values
from runners.expectation import FLOAT
from runners.families import filler
from runners.inputs import FREE, Arrays, stream
from runners.spec import Argument, Work

DOUBLE = 2.0**-53  # roundoff


def jitter(
    work: Work,
    arrays: Arrays,
    seed: int,
    times: float = 1.0,
    *,
    coarse: bool = False,
    halves: bool = False,
    refilled: bool = False,
) -> Arrays:
    """Move every random float by one rounding error, up or down, or so many times as much.

    What this changes in the original's output is the accuracy that output can be asked to have
    (Higham, Accuracy and Stability, 1.5: backward error times condition). Inputs of fewer digits
    than the results stay: halves whose sums are floats are exact, and so are their products. Where
    `coarse`, floats whose results are doubles do not; see `share`. Nor, where `halves`, do halves
    and bfloat16 beside which nothing else would move; see `share_of_halves`. Where `refilled`, what
    was declared to be all the same is not (`runners.fillers`), and moves as well.
    """
    out = dict(arrays)
    finest = _finest(work)
    halves = halves and share_of_halves(work) > 0
    for argument in work.arguments:
        only = argument.type.scalar
        if argument.name not in arrays or only is None:
            continue
        if not _moved(argument) and not (refilled and filler(argument) is not None):
            continue
        fewer = only.roundoff > finest and argument.role == "input"
        if fewer and not halves and not (coarse and _wider(only, finest)):
            continue
        data = values(arrays[argument.name], argument.type, argument.type.fields[0])
        rng = stream(seed, "jitter", argument.name)
        signs = rng.integers(0, 2, min(len(data), 1_000_003)) * 2 - 1
        if only.name in {"float", "double"}:
            factors = (1 + 2 * times * only.roundoff * signs).astype(only.dtype)
            with np.errstate(all="ignore"):
                moved = data * np.resize(factors, len(data))
        else:
            factors = np.resize(1 + 2 * times * only.roundoff * signs, len(data))
            moved = from_float(to_float(data, only) * factors, only)
        out[argument.name] = np.ascontiguousarray(moved).view(np.uint8).reshape(-1)
    return out


def share(work: Work) -> float:
    """Return what counts for doubles of what moved inputs change: floats move too much by 2²⁹.

    Sums in doubles err by the rounding of doubles, however few digits their terms have, and the
    more of that shows the more of them cancels: in proportion to what moved floats change.
    """
    finest = _finest(work)
    read = [a.type.scalar for a in work.arguments if a.role == "input" and _moved(a)]
    wider = [one for one in read if one is not None and _wider(one, finest)]
    return finest / wider[0].roundoff if wider else 1.0


def share_of_halves(work: Work) -> float:
    """Return what counts for floats of what moved halves change; zero where more than these move.

    Their products are exact in floats, sums of these are not, and the more of them cancels the more
    shows: in proportion to what moved halves change, as `share` has it of floats and doubles.
    """
    finest = _finest(work)
    moved = [a for a in work.arguments if a.role != "output" and _moved(a)]
    read = [a.type.scalar.roundoff for a in moved if a.type.scalar and a.role == "input"]
    alone = finest == FLOAT and len(read) == len(moved) and min(read, default=0.0) > FLOAT
    return finest / max(read) if alone else 0.0


def _finest(work: Work) -> float:
    written = [one.scalar for a in work.arguments if a.written for one in a.type.fields]
    return min((one.roundoff for one in written if one.kind == "f"), default=1.0)


def _moved(argument: Argument) -> bool:
    """Tell whether an argument holds floats that may be moved."""
    only = argument.type.scalar
    free = argument.init.partition(":")[0] in {*FREE, "sorted", "ones", captured.WORD}
    return free and only is not None and only.kind == "f"


def _wider(scalar: Scalar, finest: float) -> bool:
    """Tell whether these are floats among which results are doubles."""
    return scalar.roundoff == FLOAT and finest == DOUBLE


def undefined(work: Work, arrays: Arrays) -> Arrays:
    """Put a NaN in the place of what right code may make an infinity or NaN of: where that goes.

    Infinities, and numbers so small that their reciprocal overflows.
    """
    out = dict(arrays)
    for argument in work.arguments:
        only = argument.type.scalar
        if argument.name not in arrays or only is None or only.kind != "f":
            continue
        wide = to_float(values(arrays[argument.name], argument.type, argument.type.fields[0]), only)
        small = (np.abs(wide) < 2.0**-126) & (wide != 0) & (only.name in {"float", "bfloat16"})
        infinite = np.isinf(wide) | small
        if infinite.any():
            odd = from_float(np.where(infinite, np.nan, wide), only)
            out[argument.name] = np.ascontiguousarray(odd).view(np.uint8).reshape(-1)
    return out
