"""NaN at the first or the last place of rows, where an original chooses as if it were not there.

`fmaxf` gives the other one of a NaN and a number, in any order. Who begins with the first element
and compares has nothing but NaN where that is one, and what stands for no element behind the last
is often the last. Elsewhere (`nan`) no NaN is at an end, since an original that compares by itself
may make another thing of it there: so only numbers are asked that are the same with a number in its
place, and with that one's negative. A largest of many is; what becomes of a NaN between two bounds
is one of them, and may be the other one as well. Of as many results as there are elements, each may
be made of its own: these have to be the same with numbers far beyond the others, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from runners import spoilt
from runners.cuda_types import Field, from_float, to_float, values
from runners.families import DECLARED, NAN_ENDS, NAN_LAST
from runners.inputs import FREE, Arrays, interleave
from runners.run import Run
from runners.spec import Argument, BaselineFailure, Work

# One row of so many has a NaN; the first has one where they are at first places, else the last.
ONE_ROW = 4
# What stands for the NaN, and how far beyond the others that may be; so many are for all outputs.
NEGATIVE, ABOVE, BELOW, FAR, FOR_ALL = "negative", "above", "below", 64.0, 2
FAMILIES = frozenset(
    f"{one}{end}" for one in NAN_ENDS for end in ("", ":negative", ":above", ":below")
)

Values = npt.NDArray[Any]
Marks = npt.NDArray[np.bool_]


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays with a NaN, or what stands for it, at one end of some of their rows."""
    del seed
    out = dict(arrays)
    family, _, other = family.partition(":")
    for argument in _given(work, arrays):
        name, kind, one = argument.name, argument.type, argument.type.fields[0]
        wide = to_float(values(arrays[name], kind, one), one.scalar).copy()
        rows = spoilt.rows(argument, wide, case)
        ends = rows[::-ONE_ROW, -1] if family == NAN_LAST else rows[::ONE_ROW, 0]
        ends[:] = _other(ends, other, argument.init)
        out[name] = interleave([from_float(wide, one.scalar)], kind, len(wide) // one.lanes)
    return out


def _given(work: Work, arrays: Arrays) -> Iterator[Argument]:
    """Yield the arrays that are given a NaN."""
    least = spoilt.least(work, arrays)
    for argument in work.arguments:
        only, name = argument.type.scalar, argument.name
        floats = only is not None and only.kind == "f" and argument.init in FREE
        if floats and name in arrays and len(arrays[name]) // argument.type.size >= least:
            yield argument


def _other(ends: Values, other: str, init: str) -> Values | float:
    """Return what is at the ends: NaN, the negative of what was there, or a number far beyond.

    Shares stay between zero and one.
    """
    if not other:
        return np.nan
    if init == "uniform":
        return 1 - ends if other == NEGATIVE else float(other == ABOVE)
    return -ends if other == NEGATIVE else FAR if other == ABOVE else -FAR


def without(family: str) -> tuple[str, ...]:
    """Return the families with numbers in the place of the NaN: two for all, two for the widest.

    >>> without("nan-last")
    ('declared', 'nan-last:negative', 'nan-last:above', 'nan-last:below')
    """
    return (DECLARED, *(f"{family}:{one}" for one in (NEGATIVE, ABOVE, BELOW)))


def plain(
    work: Work, argument: Argument, case: Mapping[str, float], runs: Sequence[Run]
) -> list[Run]:
    """Return the runs with numbers in the place of the NaN that say something of an output."""
    read = (a.elements(case) for a in work.arguments if a.type.pointer and a.role != "output")
    return [*runs] if argument.elements(case) >= max(read, default=0) else [*runs[:FOR_ALL]]


def depends(argument: Argument, one: Field, first: Run, runs: Sequence[Run]) -> Marks:
    """Mark the numbers of an output that are not the same with numbers in the place of the NaN."""
    mine, *others = (values(r.outputs[argument.name], argument.type, one) for r in (first, *runs))
    changed = np.logical_or.reduce([mine != other for other in others])
    finite = np.isfinite(to_float(mine, one.scalar)) if one.scalar.kind == "f" else True
    return np.asarray(changed & finite)


def unasked(data: Values, marks: Marks, one: Field) -> Values:
    """Return what is wanted, with NaN for marked floats, beside which anything is right."""
    if one.scalar.kind != "f" or not marks.any():
        return data
    return from_float(np.where(marks, np.nan, to_float(data, one.scalar)), one.scalar)


def defined(work: Work, case: Mapping[str, float], first: Run, runs: Sequence[Run]) -> None:
    """Raise `BaselineFailure` where nothing is left that does not depend on a NaN at an end."""
    if not runs:
        raise BaselineFailure("nothing tells what the original does without a NaN")
    left = False
    for argument in work.arguments:
        for one in argument.type.fields if argument.written else ():
            marks = depends(argument, one, first, plain(work, argument, case, runs))
            if one.scalar.kind == "f":
                mine = values(first.outputs[argument.name], argument.type, one)
                marks |= ~np.isfinite(to_float(mine, one.scalar))
            elif argument.type.scalar is None and marks.any():
                raise BaselineFailure(f"{argument.name} depends on a NaN at an end")
            left |= not marks.all()
    if not left:
        raise BaselineFailure("everything depends on a NaN at an end")
