"""One large number at the beginning of long rows, and periods that are short against them.

What is carried from one step to a step some period later fades each time, and is small after some
dozens of them. Who sums up so many echoes and no more is right wherever rows have no more periods
than that. The longest rows that are declared may have: their period is as long as they are. And
where rows are as long as that, no case that is light is as long as they are declared, so that
`runners.far_reach` has none to ask of.

So what sizes nothing, as a delay or a stride, is as short as declared here, and a row of the
lightest declared case is sixteen times as long, as far as that is light. In one family each array
of floats is zero but for its first element, which is 2^40, in the other each of its rows but for
its first one, by turns 2^20 and 2^40; of several arrays each has half of what the one before has.
All else is as in `runners.far_reach`: whole numbers are at the upper ends of their ranges, and
shares near one. Nothing is asked where a result is beyond 2^60.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import numpy as np

from runners import far_reach, sizes, spoilt
from runners.cuda_types import from_float, values
from runners.families import IMPULSES, REACHES
from runners.inputs import FREE, Arrays, interleave
from runners.spec import Work

# What is large, how long a row is at least, and of how many of the shortest periods.
SMALLER, LARGER, LEAST_LONG, PERIODS = 2.0**20, 2.0**40, 512, 64
# The shortest period, and elements of a case.
SHORTEST, MOST_ELEMENTS = 2.0, 1 << 18
# Beyond this nothing is asked.
MOST = 2.0**60
_NUMBER = re.compile(r"\d{1,9}", re.ASCII)


def asked(work: Work) -> Iterator[tuple[dict[str, float], str]]:
    """Yield cases and families."""
    if far_reach.fades(work):
        yield from ((case, family) for case in cases(work) for family in IMPULSES)


def cases(work: Work) -> list[dict[str, float]]:
    """Return the case in which rows are longest for their period, if there are periods."""
    lightest = min((one.values for one in work.cases), key=work.elements)
    first = dict(lightest)
    long, names = sizes.sizing(work), _periods(work)
    short = {name: min(one.values[name] for one in work.cases) for name in names}
    period = min([*short.values(), *_literals(work)], default=0.0)
    for name in sorted(long, key=lambda name: -sizes.largest(work, name)) if period else ():
        for others in (first, *sizes.few_others(work, name)):
            case = {**others, **short}
            size = _fitting(work, case, name, int(sizes.TIMES_LONGER * first[name]))
            if size >= max(LEAST_LONG, PERIODS * period):
                return [{**case, name: float(size)}]
    return []


def _periods(work: Work) -> list[str]:
    """Return the variables that size nothing and may be periods: a few steps at least."""
    other = work.variables - {*sizes.sizing(work)}
    return [
        name
        for name in sorted(other)
        if all(one.values.get(name, 0.0) >= SHORTEST for one in work.cases)
    ]


def _literals(work: Work) -> list[float]:
    """Return the whole numbers that are passed by value as literals, as a stride may be."""
    found = [
        float(argument.value or 0)
        for argument in work.arguments
        if not argument.type.pointer
        and argument.type.scalar is not None
        and argument.type.scalar.kind in "iu"
        and _NUMBER.fullmatch(str(argument.value or ""))
    ]
    return [one for one in found if one >= SHORTEST]


def _fitting(work: Work, case: Mapping[str, float], name: str, most: int) -> int:
    def over(size: int) -> bool:
        return sizes.elements(work, {**case, name: float(size)}) > MOST_ELEMENTS

    return sizes.least_above(1, most + 1, over) - 1


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of zeros with one large number at their beginning, or at that of each row."""
    out = far_reach.applied(REACHES[0], work, arrays, seed, case)
    for number, argument in enumerate(work.arguments):
        name, kind = argument.name, argument.type
        floats = [one for one in kind.fields if one.scalar.kind == "f"]
        if name not in out or not kind.pointer or argument.init not in FREE or not floats:
            continue
        if argument.init == "uniform":
            continue
        parts = []
        for one in kind.fields:
            data = values(out[name], kind, one)
            if one.scalar.kind == "f":
                part = 2.0 ** -(number % far_reach.MOST_LARGE)
                made = np.zeros(len(data))
                if family == IMPULSES[0]:
                    made[:1] = LARGER * part
                else:
                    rows = spoilt.rows(argument, made, case)
                    rows[::2, 0], rows[1::2, 0] = SMALLER * part, LARGER * part
                data = from_float(made, one.scalar)
            parts.append(data)
        out[name] = interleave(parts, kind, len(out[name]) // kind.size)
    return out
