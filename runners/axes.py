"""How long an array's lines are along each of its axes, and what makes them longer.

Of `t*c` numbers c follow each other, and t are c places apart. A shape that is no product has one
axis, all of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from runners import sizes
from runners.spec import Argument, Work
from runners.whole_numbers import row_lengths

Case = Mapping[str, float]


def axes(argument: Argument, case: Case) -> list[tuple[int, int]]:
    """Return how long lines are along each axis of an array, and how far apart their numbers are.

    The last axis comes first; one of a single number is none.
    """
    count, found, apart = sizes.buffer(argument, case), [], 1
    for whole in [*row_lengths(argument.shape or "1", case), count]:
        if whole > apart:
            found.append((whole // apart, apart))
            apart = whole
    return found


def length(argument: Argument, case: Case, axis: int) -> int:
    """Return how long lines are along an axis; zero where there is no such axis."""
    every = axes(argument, case)
    return every[axis][0] if axis < len(every) else 0


def plane(argument: Argument, case: Case) -> tuple[int, int]:
    """Return how long rows of an array are, and how many follow each other: one at least."""
    return max(1, length(argument, case, 0)), max(1, length(argument, case, 1))


def lengthening(work: Work, arrays: Sequence[Argument], many: int) -> list[tuple[int, str]]:
    """Return the first axes, and the sizes that make lines along them longer in some array."""
    first = max(work.cases, key=lambda case: sizes.elements(work, case.values)).values
    found: list[tuple[int, str]] = []
    for axis in range(many):
        for name in sizes.sizing(work):
            longer = {**first, name: first.get(name, 0.0) + 1}
            grows = any(length(one, longer, axis) > length(one, first, axis) for one in arrays)
            if grows and sizes.largest(work, name) > sizes.SMALL:
                found.append((axis, name))
    return found


def lengths(work: Work, name: str, most: int) -> list[dict[str, float]]:
    """Return a case as long as declared, and one as long as a candidate has to be right for.

    The other sizes are small; what has more elements than so many, in all buffers, is none.
    """
    largest = sizes.largest(work, name)
    for others in sizes.few_others(work, name):
        both = [{**others, name: largest * times} for times in (1, sizes.TIMES_LONGER)]
        fit = [case for case in both if 0 < sizes.elements(work, case) <= most]
        if fit:
            return fit
    return []


def farthest(work: Work, name: str, top: int, most: int) -> tuple[int, Case]:
    """Return how large a size may be up to one, and what few others stand beside it."""
    tried = [
        (fitting(work, others, name, top, most), others) for others in sizes.few_others(work, name)
    ]
    return max(tried, key=lambda one: one[0])


def fitting(work: Work, others: Case, name: str, top: int, most: int) -> int:
    """Return the largest size up to one with which all buffers have no more elements than so many.

    One where none is such.
    """

    def over(size: int) -> bool:
        return not 0 < sizes.elements(work, {**others, name: float(size)}) <= most

    return sizes.least_above(1, top + 1, over) - 1
