"""Floats near one large number: what is left when that is taken away has digits to spare.

A mean distance of all pairs, a sum of steps, a spread about the first element are the same for any
common offset. Sums of the elements themselves, by signs or weights that add up to nothing, are the
same on paper alone: what cancels leaves its rounding. Numbers of a bell curve about zero do not
tell, nor does an offset of a hundred, where moving inputs by one rounding error allows as much.

So all floats are whole numbers a few steps from one of 21 bits, which leaves three: a dozen of them
may be added in any order without an error, and what a stencil makes of its neighbours is the same
however it is written. In every second row all are equal, another number in each of these: what is
left there is zero. Asked are originals that work in floats, go through loops and take no
exponentials (of those `exp2f(x * scale - most)`, with one rounding, is a right way). They are run
with another offset, too. Only where that changes nothing, and nothing is lost (`runners.no_loss`),
has a candidate to keep to the tolerance. Those that work in doubles are in `runners.last_places`
and `runners.creeping`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from runners import asked as words
from runners import sizes, spoilt, whole_numbers
from runners.cuda_types import from_float, to_float, values
from runners.families import COMMON_OFFSET, captured_work
from runners.inputs import FREE, Arrays, interleave
from runners.spec import Argument, Work

# Twelve numbers of this size have a sum below 2^24.
OFFSETS, MOST_STEPS, PER_SPREAD = (1234567.0, 1098765.0), 4, 1.5
ELSEWHERE = f"{COMMON_OFFSET}:elsewhere"
# Of shares, which lie between zero and one.
SHARES_APART = 8
# Elements of the longer case, and how long its rows are; where none is, so many times as long as
# those of the smallest.
MOST_ELEMENTS, LEAST_ROW, MOST_ROW, TIMES = 1 << 17, 256, 2048, 2


def usable(work: Work) -> Iterator[Argument]:
    """Yield the arrays of floats of 32 bits that may be near any number."""
    for argument in work.arguments:
        only = argument.type.scalar
        single = only is not None and only.name == "float" and argument.init in FREE
        if single and argument.type.pointer and argument.role != "output":
            yield argument


def alone(work: Work) -> bool:
    """Tell whether all floats that go in and come out are such, and something comes out."""
    every = [
        one.scalar
        for argument in work.arguments
        if argument.type.pointer
        for one in argument.type.fields
        if one.scalar.kind == "f"
    ]
    strict = work.atol == 0 == work.rtol
    fine = all(one.name == "float" for one in every) and not strict and not work.loose
    return fine and words.EXPONENTIAL not in work.calls and not captured_work(work)


def cases(work: Work, middle: Mapping[str, float]) -> list[dict[str, float]]:
    """Return the cases that are asked: one of the smallest, and one with rows of some length.

    In rows of 17 the digits to spare hide what cancels: signed sums of them are exact. So rows have
    to be long, and where all that are as long as wanted have too many elements, or are too long by
    themselves, the longest of the others stand in for these.
    """
    if not alone(work) or work.precise or not work.loops or not any(True for _ in usable(work)):
        return []
    every = [dict(one.values) for one in sizes.undeclared(work, limit=10, large=11, between=2)]
    every += [dict(one.values) for one in work.cases]
    first = [dict(middle)] if sizes.elements(work, middle) <= sizes.LARGEST else []
    least = min(LEAST_ROW, TIMES * max(1, _row(work, middle)))
    longer = [
        case
        for case in every
        if sizes.elements(work, case) <= MOST_ELEMENTS
        and least <= _row(work, case) <= MOST_ROW
        and case != middle
    ]
    return [*first, *sorted(longer, key=lambda case: _row(work, case))[-1:]]


def _row(work: Work, case: Mapping[str, float]) -> int:
    """Return the length of the rows of a case, which are those of the largest array."""
    most = max(usable(work), key=lambda one: sizes.buffer(one, case))
    return next(iter(whole_numbers.row_lengths(most.shape or "1", case)), 0)


def applied(
    family: str, work: Work, arrays: Arrays, seed: int, case: Mapping[str, float]
) -> Arrays:
    """Return arrays of floats near one number; every second row is one number."""
    del seed
    out = dict(arrays)
    for argument in usable(work):
        name = argument.name
        if name not in arrays:
            continue
        kind, one = argument.type, argument.type.fields[0]
        wide = to_float(values(arrays[name], kind, one), one.scalar)
        spread = SHARES_APART * (wide - 0.5) if argument.init == "uniform" else PER_SPREAD * wide
        made = OFFSETS[family == ELSEWHERE] + np.clip(np.rint(spread), -MOST_STEPS, MOST_STEPS)
        rows = spoilt.rows(argument, made, case)
        rows[1::2] = rows[1::2, :1]
        out[name] = interleave([from_float(made, one.scalar)], kind, len(made) // one.lanes)
    return out
