"""Sizes whose last thread is alone in its warp: where it moves back to whole vectors, it laps over.

A thread that takes four elements may begin four before the end, and so share some with the thread
before it. Both write the same there, unless what they write takes the place of what they read: then
one of them may read what the other has written. Within a warp all lanes read before any writes. So
it shows only where the two are in different warps, which one size in a hundred has, and under
delays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from runners import sizes
from runners.contents import Combination
from runners.families import DECLARED, captured_work
from runners.spec import Work

# What is one more than this leaves one thread over, whether it takes 1 or 16 elements, in blocks of
# up to 256 threads; one more than the least does so in warps.
WHOLE, LEAST_WHOLE = 1 << 12, 1 << 9
MOST_ELEMENTS = 1 << 20
# One of two warps is late in nearly every second run.
RUNS, MOST = 8, 2


def _changing(work: Work) -> list[str]:
    """Return the variables by which a buffer grows that is read and written."""
    places = [a for a in work.arguments if a.type.pointer and a.role == "inout"]
    least = min((case.values for case in work.cases), key=work.elements)
    return [
        name
        for name in sizes.sizing(work)
        if any(
            sizes.buffer(one, {**least, name: least[name] + 1}) > sizes.buffer(one, least)
            for one in places
        )
    ]


def cases(work: Work) -> Iterator[dict[str, float]]:
    """Yield a case for each such variable in which it is one more than whole parts."""
    if captured_work(work):
        return
    for name in _changing(work):
        # Of few rows the last thread of all is alone, too, where rows are one behind the other.
        for others in sorted(sizes.few_others(work, name), key=work.elements):
            case = {**others, name: WHOLE + 1.0}
            near = case[name] <= sizes.TIMES_LONGER * sizes.largest(work, name)
            if near and 0 < sizes.elements(work, case) <= MOST_ELEMENTS:
                yield case
                break


def alone(work: Work, fit: Sequence[Combination]) -> list[Combination]:
    """Return the longest of combinations in which a last thread may be alone, a few."""
    names = _changing(work)

    def over(one: Combination) -> bool:
        whole = [int(one.case[name]) - 1 for name in names]
        return any(size >= LEAST_WHOLE and size & (size - 1) == 0 for size in whole)

    found = [one for one in fit if one.family == DECLARED and over(one)]
    return sorted(found, key=lambda one: -work.elements(one.case))[:MOST]
