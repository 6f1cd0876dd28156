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
Flags = npt.NDArray[np.bool_]

# Elements at a time, so that all that is worked out of them stays in a core's cache.
BLOCK = 1 << 16
# What single precision may add to or take from a quotient, at the least numbers too.
SLACK = 1.06
# Quotients with the size of typical results are good to this.
FINE = 1e-5
# Where more than this share may be the worst one, all are asked for.
MOST_ASKED = 0.5
# Sizes of typical results that single precision adds to others.
_LEAST_SCALE, _MOST_SCALE = 1e-30, 1e37


@dataclass(frozen=True, slots=True)
class Line:
    """A bound below a budget: `slope * |want| + ground`, both above zero."""

    slope: float
    ground: float


@dataclass(slots=True)
class Worst:
    """The largest quotient of error and budget with what it is of, and that of error and size.

    `quotient` is the largest of error and the line below the budget.
    """

    error: float = 0.0
    bound: float = 0.0
    ratio: float = -1.0
    scaled: float = 0.0
    quotient: float = -1.0


@dataclass(frozen=True, slots=True)
class Ruler:
    """What errors of scalars are measured with.

    `budget` returns the largest error accepted of wanted values; `line` one that is never above it
    for values up to the one it is given. `scale` is the size of typical results.
    """

    scalar: Scalar
    line: Callable[[float], Line | None]
    budget: Callable[[Floats], Floats]
    scale: float

    @property
    def fits(self) -> bool:
        """Tell whether single precision can add the size of typical results to others."""
        return _LEAST_SCALE < self.scale < _MOST_SCALE


def worst(got: Native, want: Native, ruler: Ruler, kept: Flags | None = None) -> Worst | None:
    """Return the worst of results that are all finite and within budget; None where some are not.

    `got` and `want` hold scalars of the ruler's; `kept` tells which of them count. None says only
    that each has to be looked at.
    """
    if not len(got):
        return Worst(ratio=0.0)
    if not ruler.fits:
        return None
    found, asked = Worst(), 0
    kind = _native(got[:1], ruler.scalar).dtype
    rooms = tuple(np.empty(min(BLOCK, len(got)), kind) for _ in range(3))
    with np.errstate(all="ignore"):
        for start in range(0, len(got), BLOCK):
            part = slice(start, start + BLOCK)
            mine, goal = (_native(data[part], ruler.scalar) for data in (got, want))
            more = _block((mine, goal), ruler, None if kept is None else kept[part], found, rooms)
            asked += more
            if more < 0 or asked > max(64, MOST_ASKED * len(got)):
                return None
    if found.ratio < 0:  # nothing differs
        first = _native(want[:1], ruler.scalar).astype(np.float64)
        found.ratio, found.bound = 0.0, float(ruler.budget(first)[0])
    return found


def _block(
    both: tuple[Native, Native],
    ruler: Ruler,
    kept: Flags | None,
    found: Worst,
    rooms: tuple[Native, ...],
) -> int:
    """Bring the worst up to date; return how many were asked for, -1 where one is not well."""
    mine, goal = both
    gap, size, share = (room[: len(mine)] for room in rooms)
    one = gap.dtype.type
    np.subtract(mine, goal, out=gap)
    np.abs(gap, out=gap)
    if kept is not None:
        gap[~kept] = 0
    largest = np.maximum.reduce(gap)
    if largest == 0:
        return 0
    if not np.isfinite(largest):
        return -1
    np.abs(goal, out=size)
    line = ruler.line(float(np.maximum.reduce(size)))
    if line is None:
        return -1
    np.add(size, one(ruler.scale), out=share)
    np.divide(gap, share, out=share)
    np.multiply(size, one(line.slope), out=size)
    np.add(size, one(line.ground), out=size)
    np.divide(gap, size, out=size)
    count = 0
    most = float(np.maximum.reduce(share))
    if most >= found.scaled * (1 - FINE):
        errors, wanted = _errors(both, np.flatnonzero(share >= one(most * (1 - FINE))), kept)
        each = errors / (np.abs(wanted) + ruler.scale + 1e-300)
        found.scaled = max(found.scaled, float(np.maximum.reduce(each)))
    most = float(np.maximum.reduce(size))
    if most >= found.ratio / SLACK:
        least = found.ratio
        if most > found.quotient:
            # That of the largest quotient tells which others need not be asked for.
            found.quotient = most
            errors, wanted = _errors(both, np.array([np.argmax(size)]), kept)
            ratio = float(errors[0] / max(float(ruler.budget(wanted)[0]), 1e-300))
            if not ratio <= 1:
                return -1
            least = max(least, ratio)
        at = np.flatnonzero(size >= one(least / SLACK))
        if len(at):
            count = len(at)
            errors, wanted = _errors(both, at, kept)
            bounds = ruler.budget(wanted)
            if not bool((errors <= bounds).all()):
                return -1
            ratios = np.where(errors > 0, errors / np.maximum(bounds, 1e-300), 0.0)
            place = int(np.argmax(ratios))
            if ratios[place] > found.ratio:
                found.error, found.bound = float(errors[place]), float(bounds[place])
                found.ratio = float(ratios[place])
    return count


def _errors(
    both: tuple[Native, Native], at: npt.NDArray[np.intp], kept: Flags | None
) -> tuple[Floats, Floats]:
    mine, goal = both
    wanted = goal[at].astype(np.float64)
    errors = np.abs(mine[at].astype(np.float64) - wanted)
    if kept is not None:
        errors[~kept[at]] = 0.0
    return errors, wanted


def _native(data: Native, scalar: Scalar) -> Native:
    """Return scalars in the least precision in which differences of theirs are as good as exact."""
    if scalar.name == "bfloat16":
        return np.asarray((data.astype(np.uint32) << 16).view(np.float32))
    return data.astype(np.float32) if data.dtype == np.float16 else data
