"""What runs of the original say of it: its stability, and how it agrees with better answers."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from runners.compare import Budget, same_bytes, sparse
from runners.cuda_types import CudaType, Field, Storage, to_float, values
from runners.spec import BaselineFailure, Json, SpecError

Floats = npt.NDArray[np.float64]
# Of a result's own size and the typical size: what is further off is something else.
APART = 1e-2
# Elements compared at a time: what a processor's cache holds beside the next ones.
STRETCH = 1 << 16
# Half the spacing of floats near one.
FLOAT = 2.0**-24


def as_json(budget: Budget) -> Json:
    """Return a budget as it is written for the worker."""
    return {
        "noise": sparse(budget.noise),
        "roundoff": budget.roundoff,
        "few": budget.few,
        "rtol": budget.rtol,
        "atol": budget.atol,
        "capped": budget.capped,
        "floor": budget.floor,
        "exact": budget.exact,
        "stretch": budget.stretch,
        "ground": budget.ground,
        "grows": budget.grows,
    }


def agree(wide: Floats, narrow: Floats, roundoff: float = 0.0) -> bool:
    """Tell whether two precisions, or two orders of rounded sums, computed the same thing."""
    apart = differing(wide, narrow, max(APART, 64 * roundoff))
    return apart is not None and not bool(apart.any())


def differing(wide: Floats, narrow: Floats, apart: float = APART) -> npt.NDArray[np.bool_] | None:
    """Mark the elements in which two precisions differ in kind; None if they do not compare."""
    if len(wide) != len(narrow):
        return None
    with np.errstate(all="ignore"):
        finite = np.isfinite(wide) & np.isfinite(narrow)
        scale = math.sqrt(float(np.mean(wide[finite] ** 2))) if finite.any() else 0.0
        far = np.abs(wide - narrow) > apart * (np.abs(wide) + scale)
    return np.asarray((far & finite) | (np.isnan(wide) != np.isnan(narrow)))


def noise(wide: Floats, narrow: Floats, atol: float) -> npt.NDArray[np.bool_]:
    """Mark the elements that are nothing but rounding in the lesser of two precisions.

    They are wrong there by half of what they are or more, and by more than is allowed of any.

    >>> noise(np.array([0.0, 0.0, 1.0, 1e3]), np.array([3.0, 1e-7, 1.1, 1e3]), 1e-6)
    array([ True, False, False, False])
    """
    with np.errstate(all="ignore"):
        gap = np.abs(wide - narrow)
        lost = gap > 0.5 * np.maximum(np.abs(wide), np.abs(narrow))
    return np.asarray(np.isfinite(gap) & lost & (gap > atol))


def check_reference(
    where: str,
    budget: Json | None,
    want: Floats,
    terms: tuple[npt.NDArray[Any], Field, npt.NDArray[np.bool_] | None, bool],
) -> None:
    """Raise when the original is further from its own reference than its tolerance explains."""
    first, one, mask, lenient = terms
    goal = np.asarray(want) if budget is None else np.asarray(want, np.float64)
    scale = 0.0 if budget is None else typical(goal)
    for start in range(0, len(first), STRETCH):
        part = slice(start, start + STRETCH)
        if budget is None:
            far = first[part] != goal[part].astype(one.scalar.dtype)
        else:
            far = _far(to_float(first[part], one.scalar), goal[part], scale, budget)
            if lenient:
                far &= np.isfinite(goal[part])
        if mask is not None:
            far &= ~mask[part]
        if far.any():
            at = start + int(np.argmax(far))
            raise BaselineFailure(
                f"the original fails its reference at {where}[{at}] is {first[at]},"
                f" the reference says {want[at]}",
                "mend the reference, the tolerance, or the kernel",
            )


def typical(data: Floats) -> float:
    """Return the root mean square of what is finite; zero of nothing."""
    squares, count = 0.0, 0
    for start in range(0, len(data), STRETCH):
        part = data[start : start + STRETCH]
        finite = part[np.isfinite(part)]
        with np.errstate(all="ignore"):
            squares += float((finite * finite).sum())
        count += len(finite)
    return math.sqrt(squares / count) if count else 0.0


def near_zero(atol: float, roundoff: float, size: Floats) -> float:
    """Return what results near zero may err by: two spacings of typical ones, within `atol`.

    Spacings of floats where results are stored as halves: they are worked out in floats, too.
    """
    return min(atol, 4 * min(roundoff, FLOAT) * typical(size))


def _far(mine: Floats, goal: Floats, scale: float, budget: Json) -> npt.NDArray[np.bool_]:
    """Mark what is further from the reference than tolerance and rounding explain."""
    with np.errstate(all="ignore"):
        slack = budget["atol"] + (budget["rtol"] + 64 * budget["roundoff"]) * (np.abs(goal) + scale)
        far = ~((np.abs(mine - goal) <= slack) | (mine == goal))
    return np.asarray(far & ~(np.isnan(mine) & np.isnan(goal)))


def stability(
    name: str, kind: CudaType, same: list[Storage], untouched: npt.NDArray[np.bool_] | None
) -> bool:
    """Tell whether runs differ in order only; raise when what they hold differs in kind."""
    if all(same_bytes(same[0], other) for other in same[1:]):
        return False
    kept = None if untouched is None else ~untouched
    for one in kind.fields:
        lists = [values(storage, kind, one) for storage in same]
        if kept is not None:
            mask = np.repeat(kept, one.lanes)
            lists = [data[mask] for data in lists]
        if one.scalar.kind != "f":
            if all(np.array_equal(lists[0], other) for other in lists[1:]):
                continue
            ordered = [np.sort(data) for data in lists]
            if all(np.array_equal(ordered[0], other) for other in ordered[1:]):
                return True
            raise _unstable(name, lists)
        wide = [to_float(data, one.scalar) for data in lists]
        error = one.scalar.roundoff  # of each addition, where atomics round each of them
        if all(agree(wide[0], other, error) for other in wide[1:]):
            continue
        if all(agree(np.sort(wide[0]), np.sort(other)) for other in wide[1:]):
            return True
        raise _unstable(name, lists)
    return False


def as_captured(
    name: str,
    kind: CudaType,
    after: Storage,
    replayed: Storage,
    untouched: npt.NDArray[np.bool_] | None,
) -> Storage:
    """Return what a launch left in a buffer where it was captured, as one more run's output.

    Elements that the kernel does not write are taken from the run. Raises `BaselineFailure` when
    the launch, run again, does something else than it did in its program.
    """
    found = after.copy()
    if untouched is not None:
        rows = found.reshape(-1, kind.size)
        rows[untouched] = replayed.reshape(-1, kind.size)[untouched]
    try:
        stability(name, kind, [found, replayed, replayed], untouched)
    except BaselineFailure as error:
        raise BaselineFailure(
            f"run again, the captured launch gives other values of {name} than in its program",
            "arguments may overlap or reach beyond what was captured, the kernel may read what is"
            " no argument, or the program may be built from another source",
        ) from error
    return found


def _unstable(name: str, lists: list[npt.NDArray[Any]]) -> BaselineFailure:
    """Say how runs of the original differ: by what was in memory before, or by themselves."""
    # The first and the third run began with the same poison.
    first, other, third = (np.ascontiguousarray(data).tobytes() for data in lists[:3])
    if first == third and first != other:
        why = f"output {name} depends on what was in it before"
    else:
        why = f"output {name} differs between runs of the original on the same inputs"
    return BaselineFailure(
        why, f"if {name} is added to, declare it `role: inout` with `init: zeros`"
    )


def natural(data: Storage, kind: CudaType) -> npt.NDArray[Any]:
    """Return a buffer as a reference reads it: floats as doubles, the rest as they are."""
    only = kind.scalar
    if only is None:
        return data.reshape(-1, kind.size).copy()
    flat = values(data, kind, kind.fields[0])
    shaped = to_float(flat, only) if only.kind == "f" else flat.copy()
    if only.kind == "b":
        shaped = shaped.astype(bool)
    lanes = kind.fields[0].lanes
    return shaped.reshape(-1, lanes) if lanes > 1 else shaped


def call(function: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    """Call a reference with one dictionary, or by the names of its parameters."""
    parameters = inspect.signature(function).parameters
    try:
        if len(parameters) == 1 and next(iter(parameters)) not in arguments:
            return function(arguments)
        strange = [name for name in parameters if name not in arguments]
        if strange:
            raise SpecError(
                f"the reference function asks for {', '.join(strange)}; a reference is given what "
                f"the kernel reads: {', '.join(arguments)}"
            )
        return function(**{name: arguments[name] for name in parameters})
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        raise SpecError(f"the reference function fails: {type(error).__name__}: {error}") from error
