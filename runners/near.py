"""The worst of many errors, found without working out the budget of each.

Nearly all results of a right candidate are far within their budget, and what decides is the one
that comes nearest to its own. A bound that is cheap, and never above the budget, tells which may be
that one; for those alone the budget is asked. What is found is what asking for all would find.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.cuda_types import Scalar

Floats = npt.NDArray[np.float64]
Native = npt.NDArray[Any]

# What single precision may add to or take from a quotient, at the least numbers too.
SLACK = 1.1
# Quotients with the size of typical results are good to this.
FINE = 1e-5
# Where more than this share may be the worst one, all are asked for.
MOST_ASKED = 0.5
# Sizes of typical results that single precision adds to others.
_LEAST_SCALE, _MOST_SCALE = 1e-30, 1e37


@dataclass(frozen=True, slots=True)
class Line:
    """A bound below a budget: `slope * |want| + ground`, above zero everywhere."""

    slope: float
    ground: float


@dataclass(slots=True)
class Worst:
    """The largest quotient of error and budget, where it is, and that of error and size."""

    at: int = 0
    error: float = 0.0
    bound: float = 0.0
    ratio: float = 0.0
    scaled: float = 0.0


def worst(
    got: Native,
    want: Native,
    scalar: Scalar,
    line: Line,
    budget: Callable[[Floats], Floats],
    scale: float,
    kept: npt.NDArray[np.bool_] | None = None,
) -> Worst | None:
    """Return the worst of results that are all finite and within budget; None where some are not.

    `got` and `want` hold `scalar`s; `kept` tells which of them count. `budget` returns the largest
    error accepted of wanted values, `scale` is the size of typical ones. None says only that each
    has to be looked at.
    """
    if not _LEAST_SCALE < scale < _MOST_SCALE:
        return None
    mine, goal = _native(got, scalar), _native(want, scalar)
    with np.errstate(all="ignore"):
        gap = np.subtract(mine, goal)
        np.abs(gap, out=gap)
        if kept is not None:
            gap[~kept] = 0
        largest = gap.max(initial=0)
        if not np.isfinite(largest):
            return None
        if largest == 0:
            first = goal[:1].astype(np.float64)
            return Worst(bound=float(budget(first)[0]) if len(first) else 0.0)
        size = np.abs(goal)
        share = np.add(size, size.dtype.type(scale))
        np.divide(gap, share, out=share)
        np.multiply(size, size.dtype.type(line.slope), out=size)
        np.add(size, size.dtype.type(line.ground), out=size)
        np.divide(gap, size, out=size)
        top = int(np.argmax(size))

        def asked(at: npt.NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
            wanted = goal[at].astype(np.float64)
            errors = np.abs(mine[at].astype(np.float64) - wanted)
            if kept is not None:
                errors[~kept[at]] = 0.0
            return errors, wanted, budget(wanted)

        errors, _, bounds = asked(np.array([top]))
        ratio = float(errors[0] / max(bounds[0], 1e-300))
        if not ratio <= 1:
            return None
        may = np.flatnonzero(size >= size.dtype.type(ratio / SLACK))
        if len(may) > max(64, MOST_ASKED * len(size)):
            return None
        errors, _, bounds = asked(may)
        if not bool((errors <= bounds).all()):
            return None
        ratios = errors / np.maximum(bounds, 1e-300)
        place = int(np.argmax(ratios))
        found = Worst(
            int(may[place]), float(errors[place]), float(bounds[place]), float(ratios[place])
        )
        may = np.flatnonzero(share >= share.max() * (1 - FINE))
        errors, wanted, _ = asked(may)
        found.scaled = float((errors / (np.abs(wanted) + scale + 1e-300)).max())
    return found


def _native(data: Native, scalar: Scalar) -> Native:
    """Return scalars in the least precision in which differences of theirs are as good as exact."""
    if scalar.name == "bfloat16":
        return np.asarray((data.astype(np.uint32) << 16).view(np.float32))
    return data.astype(np.float32) if data.dtype == np.float16 else data
