"""Values replaced by random ones of the same distribution, so that a capture can be given away.

Numbers are drawn anew from between the quantiles of what was there: shares of zeros, NaN and
infinities stay, and so does the range. Whole numbers stay in their range, ascending ones ascending
from the same first to the same last, and a permutation a permutation, so that what is an index
stays a valid one. Which values belong together is lost, and with it what the program computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from runners.captured import Bytes
from runners.cuda_types import CudaType, Scalar, from_float, to_float, values
from runners.inputs import interleave

_QUANTILES = 1024
_SAMPLED = 1 << 20

Values = npt.NDArray[Any]


def randomized(data: Bytes, kind: CudaType, rng: np.random.Generator) -> Bytes:
    """Return contents of the same type, size and distribution. A tail of a value becomes zero."""
    whole = len(data) // kind.size * kind.size
    parts = [
        _field(values(data[:whole], kind, one), one.scalar, rng).astype(
            one.scalar.dtype, copy=False
        )
        for one in kind.fields
    ]
    out = np.zeros(len(data), np.uint8)
    out[:whole] = interleave(parts, kind, whole // kind.size)
    return out


def _field(data: Values, scalar: Scalar, rng: np.random.Generator) -> Values:
    if not len(data):
        return data
    if scalar.kind == "f":
        return from_float(_floats(to_float(data, scalar), rng), scalar)
    return _whole(data, rng)


def _floats(data: npt.NDArray[np.float64], rng: np.random.Generator) -> npt.NDArray[np.float64]:
    out = data.copy()
    usual = np.isfinite(data) & (data != 0)
    some = data[usual]
    if len(some):
        sample = some if len(some) <= _SAMPLED else rng.choice(some, _SAMPLED)
        points = np.linspace(0, 1, _QUANTILES)
        # Between the quantiles: a value of the program's comes up by chance only.
        out[usual] = np.interp(rng.random(len(some)), points, np.quantile(sample, points))
    # Where the zeros and the special values lie tells of the data, too.
    rng.shuffle(out)
    return out


def _whole(data: Values, rng: np.random.Generator) -> Values:
    low, high = data.min(), data.max()
    if low == high:
        return data.copy()
    if len(data) > 2 and bool((data[1:] >= data[:-1]).all()):
        out = np.sort(rng.integers(low, high, len(data), dtype=data.dtype, endpoint=True))
        out[0], out[-1] = low, high
        return out
    if len(data) == int(high) - int(low) + 1 and len(np.unique(data)) == len(data):
        return np.asarray(rng.permutation(data))
    return rng.integers(low, high, len(data), dtype=data.dtype, endpoint=True)
