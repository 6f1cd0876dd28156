"""Rows of numbers whose logarithms an original adds up, and a candidate may multiply.

The logarithm of a product is the sum of logarithms as long as the product is a number: eight
numbers of a millionth are none, nor are eight of a million. And as long as none is below zero: two
that are make a product whose logarithm is a number, where the original has none. Both show in rows
that are such throughout, and as long as what a thread takes at a time makes them: the longest that
are declared, few of them, of a power of two, so that as many numbers come to each thread.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import asked as text
from runners import full_counts, sizes, spoilt
from runners.cuda_types import Field, from_float, to_float, values
from runners.families import DECLARED, LOG_BELOW, LOG_SIZES, LOGARITHMS, captured_work
from runners.inputs import Arrays, interleave
from runners.spec import MOVED, Argument, BaselineFailure, Work

# Powers of two by which the numbers of a row are smaller and larger, row by row.
POWERS = (-20, 20, -40)
# Elements of all buffers at most.
MOST = 1 << 20

Values = npt.NDArray[Any]


def asked(work: Work) -> Iterator[tuple[dict[str, float], str]]:
    """Yield the case and the families that are asked: of originals that take logarithms."""
    if text.LOGARITHM not in work.calls or captured_work(work) or work.loose:
        return
    case = _case(work)
    many = sum(1 for _ in _shares(work))
    written = [argument for argument in work.arguments if argument.written]
    # Of a result for each number no products are made, and what has no solution is anything.
    if case is None or not any(spreads(work, argument, case) for argument in written):
        return
    for family in (*LOG_SIZES[:many], *LOG_BELOW[:many]):
        yield case, family


def between(work: Work, family: str, case: Mapping[str, float]) -> float:
    """Return how large logarithms are that add up to a result, however small that is; or zero.

    Where an original takes logarithms of sums of exponentials, the largest exponent comes out of
    the sum and the number of terms may: what is left of equal ones, or of two, is zero in one order
    of steps and rounded at the size of the logarithms in another. On declared inputs results tell
    their size; on others they may all be next to nothing.
    """
    both = text.LOGARITHM in work.calls and text.EXPONENTIAL in work.calls
    if not both or family == DECLARED or family in LOGARITHMS:
        return 0.0
    longest = max((size for name, size in case.items() if name != MOVED), default=1.0)
    return 1.0 + math.log(max(longest, 1.0))


def _case(work: Work) -> dict[str, float] | None:
    """Return the case with the longest rows: along a size by which results do not grow."""
    for name in sorted(sizes.sizing(work), key=lambda name: full_counts.grows(work, name)):
        for others in sizes.few_others(work, name):
            case = sizes.even(work, {**others, name: sizes.largest(work, name)})
            if 0 < sizes.elements(work, case) <= MOST:
                return case
    return None


def _shares(work: Work) -> Iterator[Argument]:
    """Yield the arrays of floats that were declared to be above zero: of others half are not."""
    for argument in work.arguments:
        only = argument.type.scalar
        share = argument.type.pointer and argument.role == "input" and argument.init == "uniform"
        if share and only is not None and only.kind == "f":
            yield argument


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of which one has small and large rows, or is below zero throughout.

    One at a time: of two that are, the roots of a product are numbers, and of each there are none.
    """
    out = dict(arrays)
    every, number = [*_shares(work)], int(family.rpartition(" ")[2])
    if number >= len(every) or every[number].name not in arrays:
        return out
    argument = every[number]
    kind, one = argument.type, argument.type.fields[0]
    wide = to_float(values(arrays[argument.name], kind, one), one.scalar).copy()
    if family in LOG_BELOW:
        wide = -wide
    else:
        rows = spoilt.rows(argument, wide, case)
        powers = np.resize(np.roll(POWERS, -seed), len(rows))
        rows[:] = np.ldexp(rows, powers[:, np.newaxis])
    made = from_float(wide, one.scalar)
    out[argument.name] = interleave([made], kind, len(wide) // one.lanes)
    return out


def none_there(data: Values, one: Field) -> Values:
    """Return what is wanted of rows below zero: NaN where the original has it, else anything."""
    if one.scalar.kind != "f":
        return data
    odd = np.isnan(to_float(data, one.scalar))
    return from_float(np.where(odd, np.nan, np.inf), one.scalar)


def spreads(work: Work, argument: Argument, case: Mapping[str, float]) -> bool:
    """Tell whether each result is made of many numbers, and none of them alone may be left out."""
    if any(one.scalar.kind != "f" for one in argument.type.fields):
        return False
    read = [a.elements(case) for a in _shares(work)]
    return bool(read) and argument.elements(case) < min(read)


def defined(work: Work, outputs: Mapping[str, Any]) -> None:
    """Raise `BaselineFailure` where an original finds a number for all that is below zero."""
    for argument in work.arguments:
        for one in argument.type.fields if argument.written else ():
            data = values(outputs[argument.name], argument.type, one)
            if one.scalar.kind == "f" and np.isnan(to_float(data, one.scalar)).any():
                return
    raise BaselineFailure("no result is NaN of numbers below zero")
