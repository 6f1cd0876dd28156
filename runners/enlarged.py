"""Find a case with more elements in a buffer than an `int` can count, and who has to run on it.

A case is derived from the largest declared one by making one of its variables larger, as far as
the types of arguments, the limits of a launch and the device's memory let it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np

from runners.expressions import ExpressionError
from runners.gpu import LaunchError
from runners.inputs import rotatable
from runners.launchable import geometry
from runners.sizes import least_above
from runners.spec import Argument, CaseSpec, Launch, Work, scalar_values

LIMIT = 2**31
MORE = 0.01  # of the limit that is gone beyond it
_COUNTED = 64  # bytes: what is multiplied by less may be the size of an element
_PRODUCT = re.compile(
    r"^\s*(?:@!?%p\d+\s+)?(?P<what>(?:mul|mad)\.(?:wide\.[su]32|lo\.[su]64|lo\.[su]32)|shl\.b64)"
    r"\s+%\w+,\s*%\w+,\s*(?P<by>[^,;\s]+)",
    re.MULTILINE,
)


def narrowed(mine: str, theirs: str) -> bool:
    r"""Tell whether a candidate may compute in 32 bits an index that its original has in 64.

    By products in their PTX. It only decides whether to look deeper, so it says yes too often.

    >>> narrowed("mul.lo.s32 %r3, %r1, %r2;", "mul.wide.s32 %rd3, %r1, %r2;")
    True
    """
    (wide, short), (wide_before, short_before) = _products(mine), _products(theirs)
    return wide_before > 0 and (wide < wide_before or short > short_before)


def _products(ptx: str) -> tuple[int, int]:
    """Count products of 64 bits, but for those with an element's size, and of 32 bits."""
    wide = short = 0
    for found in _PRODUCT.finditer(ptx):
        what, by = found["what"], found["by"]
        register = by.startswith("%")
        if what.endswith("32") and "wide" not in what:
            short += register
        elif register:
            wide += 1
        else:
            size = abs(int(by, 0))
            wide += (1 << min(size, 64) if what == "shl.b64" else size) > _COUNTED
    return wide, short


def tiled(work: Work) -> bool:
    """Tell whether contents may be repeated: elements are drawn one by one, or all the same."""
    return all(
        argument.role == "output"
        or argument.init in {"zeros", "ones"}
        or (rotatable(argument) and argument.init != "permutation")
        for argument in work.arguments
        if argument.type.pointer
    )


def largest(work: Work) -> CaseSpec:
    """Return the declared case with most elements."""
    return max(work.cases, key=lambda one: work.elements(one.values))


def counts(work: Work, case: Mapping[str, float]) -> dict[str, int]:
    """Return how many elements each buffer of a case has."""
    return {a.name: a.elements(case) for a in work.arguments if a.type.pointer}


def case(
    work: Work, launches: Sequence[Launch], limit: int = LIMIT, most_bytes: float = math.inf
) -> Mapping[str, float] | None:
    """Return the largest declared case with one variable so large that a buffer exceeds the limit.

    The first variable that can is taken, which often counts rows, and most such buffers. Outputs
    have to grow with it: what only lengthens a sum changes its rounding. None where arguments, the
    launch or memory forbid it.
    """
    base = largest(work).values
    for name in (k for k in base if k in work.variables and base[k] >= 1):
        found: list[tuple[int, int, dict[str, float]]] = []
        for argument in (a for a in work.arguments if a.type.pointer):
            value = _least(work, base, name, argument, limit)
            changed = {**base, name: float(value or 0)}
            if value is None or not _valid(work, launches, changed):
                continue
            many = counts(work, changed)
            size = sum(many[a.name] * a.type.size for a in work.arguments if a.type.pointer)
            if size <= most_bytes and grown(work, changed):
                above = sum(count > limit for count in many.values())
                found.append((-above, size, changed))
        if found:
            return min(found, key=lambda one: one[:2])[2]
    return None


def _least(
    work: Work, base: Mapping[str, float], name: str, argument: Argument, limit: int
) -> int | None:
    """Return the least odd multiple of what a variable is a multiple of that goes far enough."""

    def enough(value: int) -> bool:
        try:
            return argument.elements({**base, name: float(value)}) > limit * (1 + MORE)
        except ExpressionError:
            return True  # beyond all numbers

    declared = [int(one.values[name]) for one in work.cases if one.values.get(name, 0) >= 1]
    step = min([256, *(value & -value for value in declared)])
    low, high = int(base[name]), 2**31 - 1
    if enough(low) or not enough(high):
        return None
    return (-(-least_above(low, high, enough) // step) | 1) * step


def _valid(work: Work, launches: Sequence[Launch], changed: Mapping[str, float]) -> bool:
    """Tell whether every whole number fits its type, and the launches are within CUDA's limits."""
    try:
        for launch in launches:
            geometry(launch, changed)
        counts(work, changed)
        for argument in work.arguments:
            if argument.type.pointer:
                continue
            kinds = [one.scalar for one in argument.type.fields for _ in range(one.lanes)]
            numbers = scalar_values(argument, changed)
            kinds += kinds[-1:] * len(numbers)
            for number, kind in zip(numbers, kinds, strict=False):
                if kind.kind in "iu":
                    bounds = np.iinfo(kind.dtype)
                    if not bounds.min <= number <= bounds.max:
                        return False
    except (LaunchError, ExpressionError):
        return False
    return max(changed.values()) < 2**31


def grown(work: Work, changed: Mapping[str, float]) -> frozenset[str]:
    """Return the outputs that grow at least half as much as the variable that was made larger."""
    base = largest(work).values
    factor = max(value / base[name] for name, value in changed.items() if base[name] > 0)
    before, after = counts(work, base), counts(work, changed)
    return frozenset(
        a.name for a in work.arguments if a.written and after[a.name] * 2 >= factor * before[a.name]
    )


def growth(work: Work, changed: Mapping[str, float], base: Mapping[str, float]) -> float:
    """Return how many times as much data as in another case there is."""
    return work.elements(changed) / max(1, work.elements(base))
