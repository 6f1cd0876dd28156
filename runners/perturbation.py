"""Inputs moved by what rounding may do to them: so exact can an output be asked to be.

No families: their values are those of one, but for the last digits, or for what overflows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from runners import captured
from runners.cuda_types import Scalar, from_float, to_float, values
from runners.expectation import FLOAT
from runners.expressions import variables_of
from runners.families import filler
from runners.inputs import FREE, Arrays, stream
from runners.spec import Argument, Work

DOUBLE = 2.0**-53  # roundoff
# Terms of a sum whose errors what moved halves change tells as it is, and times as many at most.
CHAIN, MOST_CHAINS = 128, 64.0


def jitter(
    work: Work,
    arrays: Arrays,
    seed: int,
    times: float = 1.0,
    *,
    coarse: bool = False,
    halves: bool = False,
    refilled: bool = False,
    alone: bool = False,
) -> Arrays:
    """Move every random float by one rounding error, up or down, or so many times as much.

    What this changes in the original's output is the accuracy that output can be asked to have
    (Higham, Accuracy and Stability, 1.5: backward error times condition). Inputs of fewer digits
    than the results stay: halves whose sums are floats are exact, and so are their products. Where
    `coarse`, floats whose results are doubles do not; see `share`. Nor, where `halves`, do halves
    and bfloat16 beside which nothing else would move; see `share_of_halves`. Where `refilled`, what
    was declared to be all the same is not (`runners.fillers`), and moves as well. Where `alone`,
    halves and bfloat16 of fewer digits than the results do, and nothing else; see `share_beside`.
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
        if alone and not fewer:
            continue
        if fewer and not (halves or alone) and not (coarse and _wider(only, finest)):
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


def share_beside(work: Work) -> float:
    """Return the same of halves that move alone, whatever else goes in; zero where none do.

    A bias in floats beside them tells nothing of the sums that it is added to.
    """
    finest = _finest(work)
    read = [one.roundoff for one, _ in _fewer(work)]
    return finest / max(read) if finest == FLOAT and read else 0.0


def chains(work: Work, case: Mapping[str, float], output: Argument) -> float:
    """Return how many times as long as `CHAIN` the sums behind an output may be, 64 at most.

    Tensor cores cut off what does not fit, each time they add sixteen products or fewer to a sum:
    towards zero, so that errors of a long sum add up where those of rounding even out. Beside what
    moved halves change they grow with the number of terms: of sums of 256, 1,024 and 4,096 to 39,
    76 and 256 times that, as worked out for three generations of them. Sums in halves are at 5,100
    times, however long. The terms are as many as the variables count that inputs have and the
    output has not; where it has all of them, as many as the largest counts.
    """
    inside = {name for _, shape in _fewer(work) for name in variables_of(shape)} & set(case)
    summed = inside - variables_of(output.shape or "")
    terms = math.prod(case[name] for name in summed) if summed else 0.0
    if not summed:
        terms = max((case[name] for name in inside), default=0.0)
    return min(MOST_CHAINS, max(1.0, terms / CHAIN))


def _fewer(work: Work) -> list[tuple[Scalar, str]]:
    """Return type and shape of what is read, may be moved, and has fewer digits than floats."""
    return [
        (a.type.scalar, a.shape or "")
        for a in work.arguments
        if a.role == "input" and a.type.scalar is not None and _moved(a)
        if a.type.scalar.roundoff > FLOAT
    ]


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
