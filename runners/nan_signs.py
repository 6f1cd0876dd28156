"""A NaN whose sign bit is set: what orders floats by their bits has it below all numbers.

Zero by zero is such a NaN on x86, and a positive one in CUDA and in numpy: users meet both. It is
the one NaN of the family `nan`, in the same place, with the sign bit set. Where results are whole
numbers, to which none spreads, there are several like it: one that stands between two numbers below
zero changes nothing. An original that compares makes the same of both signs; where one does not,
nothing is asked. Nor is it asked where a NaN spreads to, which `nan` tells already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import piles
from runners.cuda_types import Field, to_float, values
from runners.families import captured_work
from runners.inputs import Arrays, interleave
from runners.run import Run
from runners.spec import Argument, BaselineFailure, Work

# The family with the same NaN, of the other sign; of which family, where there are how many.
ABOVE, SINGLE, SEVERAL, APART = "nan-above", "nan", 8, 104729
# Sums of atomics come in any order: by so little of typical results no sign shows.
ALIKE = 1e-2

Values = npt.NDArray[Any]


def asked(work: Work) -> bool:
    """Tell whether there are floats in which a NaN has a sign."""
    return not captured_work(work) and any(True for _ in _signed(work))


def seeds(work: Work, seed: int) -> list[int]:
    """Return the seed of each NaN: of several where all results are whole numbers."""
    return [seed + APART * turn for turn in range(SEVERAL if piles.whole_results(work) else 1)]


def _signed(work: Work) -> Iterator[Argument]:
    """Yield the arrays of floats of any size that go in. Shares are ordered as their bits are."""
    for argument in work.arguments:
        floats = any(one.scalar.kind == "f" for one in argument.type.fields)
        given = argument.type.pointer and argument.role != "output"
        if floats and given and argument.init == "normal":
            yield argument


def turned(work: Work, arrays: Arrays) -> Arrays:
    """Return arrays with the sign bit of each NaN set."""
    out = dict(arrays)
    for argument in _signed(work):
        if argument.name not in arrays:
            continue
        kind = argument.type
        parts = [_below(values(arrays[argument.name], kind, one), one) for one in kind.fields]
        out[argument.name] = interleave(parts, kind, len(arrays[argument.name]) // kind.size)
    return out


def _below(data: Values, one: Field) -> Values:
    if one.scalar.kind != "f":
        return data
    where = np.isnan(to_float(data, one.scalar))
    bits = data.view(f"u{one.scalar.size}").copy()
    bits[where] |= bits.dtype.type(1 << 8 * one.scalar.size - 1)
    return np.asarray(bits.view(data.dtype))


def defined(work: Work, first: Run, above: Sequence[Run]) -> None:
    """Raise `BaselineFailure` where an original makes another thing of a NaN of the other sign."""
    if not above:
        raise BaselineFailure("nothing tells what the original makes of a NaN of the other sign")
    for argument in work.arguments:
        for one in argument.type.fields if argument.written else ():
            mine, *others = (
                values(run.outputs[argument.name], argument.type, one) for run in (first, *above)
            )
            if not all(_alike(mine, other, one) for other in others):
                raise BaselineFailure(f"{argument.name} depends on the sign of a NaN")


def _alike(mine: Values, other: Values, one: Field) -> bool:
    """Tell whether two runs gave the same, in any order where it is whole numbers."""
    if one.scalar.kind != "f":
        return bool(np.array_equal(np.sort(mine), np.sort(other)))
    left, right = to_float(mine, one.scalar), to_float(other, one.scalar)
    finite = np.isfinite(left)
    if not np.array_equal(finite, np.isfinite(right)):
        return False
    left, right = left[finite], right[finite]
    typical = float(np.sqrt(np.mean(left**2))) if len(left) else 0.0
    return bool((np.abs(left - right) <= ALIKE * (np.abs(left) + typical)).all())
