"""Which originals are asked about what stays from an early event, and in which cases.

Those that go through loops, or nothing is carried, and make whole numbers of whole numbers alone:
in floats what is small beside another is rounded away, and by which order one adds. In the smallest
case of over 256 elements up to three arrays have a turn; in the largest declared one, and where
rows are sixteen times as long or as long as there is room for, two of them. What is carried across
rows is asked where columns are as long.

Where an original adds up in 32 bits it is asked no further than its sums fit into them: there
another order of sums and maxima gives another result. And no array that may be one of places is
longer than what meets in one place anywhere else (`whole_families.HOT`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from runners import early_events, longest, piles, sizes
from runners.axes import fitting, plane
from runners.contents import Combination
from runners.early_events import ACROSS, LARGEST, MIDDLING
from runners.piles import Range
from runners.spec import Work
from runners.whole_families import HOT, MOST_INDEXED, exact

# Arrays that have a turn in the smallest case, and in each other one; directions in which they get
# longer, and the elements of all buffers there, but for numbers that are surely no keys.
MOST_ARRAYS, MOST_TURNS, MOST_DIRECTIONS, MOST_ELEMENTS = 3, 2, 3, 1 << 22
# Rows of a table in which a column is a way for something to go.
LEAST_ALONG = 4
# What is asked of rows, and of columns.
WAYS = ((MIDDLING, LARGEST), (ACROSS,))

Case = Mapping[str, float]


def combinations(work: Work, middle: Case, seed: int) -> Iterator[Combination]:
    """Yield what is asked, the lighter cases of one direction first: they tell of the others."""
    every = piles.amounts(work)
    if not (work.loops and every and exact(work)):
        return
    declared = max((case.values for case in work.cases), key=work.elements)
    wide = piles.whole_results(work)
    for case, most in ((middle, MOST_ARRAYS), (declared, MOST_TURNS if wide else 0)):
        turns = range(min(most, len(every)))
        for number in turns if work.elements(case) <= longest.MOST_ELEMENTS else ():
            for kind in (kind for way in WAYS for kind in way):
                # In the smallest case whole arrays are at their ends in other families, too.
                fits = case is middle or _fits(work, case, number, kind)
                if fits and _goes(work, case, number, kind):
                    yield Combination(case, early_events.named(number, kind), seed)
    if wide:
        yield from _longer(work, every, seed)


def _longer(work: Work, every: list[Range], seed: int) -> Iterator[Combination]:
    """Yield what is asked where rows, or columns, are as long as declared, and longer than that."""
    first = max((case.values for case in work.cases), key=work.elements)
    directions = 0
    for way, kinds in enumerate(WAYS):
        for name in sorted(sizes.sizing(work), key=lambda name: -sizes.largest(work, name)):
            more = {**first, name: first[name] + 1}
            growing = [
                number
                for number, (argument, *_) in enumerate(every)
                if plane(argument, more)[way] != plane(argument, first)[way]
            ]
            if not growing or directions == MOST_DIRECTIONS:
                continue
            directions += 1
            for number in growing[:MOST_TURNS]:
                line = _line(work, name, every[number])
                asked = [(case, kinds[0]) for case in line[:-1]]
                asked += [(case, kind) for case in line[-1:] for kind in kinds]
                for case, kind in asked:
                    if _goes(work, case, number, kind) and _fits(work, case, number, kind):
                        yield Combination(case, early_events.named(number, kind), seed)


def _line(work: Work, name: str, one: Range) -> list[dict[str, float]]:
    """Return a case of a direction as long as declared, and one that is as long as it may be."""
    argument, low, high = one
    keys = low >= piles.LEAST_KEY
    most = MOST_ELEMENTS if keys or high - low >= MOST_INDEXED else longest.MOST_ELEMENTS
    least = int(sizes.largest(work, name))
    for others in sizes.few_others(work, name):
        size = fitting(work, others, name, sizes.TIMES_LONGER * least, most)
        if early_events.placing(one):
            case = dict(others)

            def over(size: int, case: dict[str, float] = case) -> bool:
                return sizes.buffer(argument, {**case, name: float(size)}) > HOT

            size = sizes.least_above(1, size + 1, over) - 1
        if size > sizes.SMALL:
            return [{**others, name: float(one)} for one in sorted({min(least, size), size})]
    return []


def _goes(work: Work, case: Case, number: int, kind: str) -> bool:
    """Tell whether there is a way for something to go, and no more places are alike than may be."""
    one = piles.amounts(work)[number]
    count = sizes.buffer(one[0], case)
    row, along = plane(one[0], case)
    if early_events.placing(one) and count > HOT:
        return False
    return row < count and along >= LEAST_ALONG if kind == ACROSS else row > 1


def _fits(work: Work, case: Case, number: int, kind: str) -> bool:
    """Tell whether sums of all that is in a case, and of its products, fit into the results."""
    if kind == LARGEST:
        return True  # but for few of them they are as they are drawn, or zero
    every = piles.amounts(work)
    one, others = every[number], [other for at, other in enumerate(every) if at != number]
    longest_of_all = max(sizes.buffer(argument, case) for argument, *_ in every)
    ends = [abs(early_events.beside(other, kind) or 0) for other in others]
    own = sizes.buffer(one[0], case) * abs(early_events.quiet(one))
    own += early_events.events(one[0], case, kind) * abs(early_events.event(one, kind))
    most = max(longest_of_all * sum(ends) + own, own * math.prod(max(1, end) for end in ends))
    least = min(field.scalar.size for a in piles.written(work) for field in a.type.fields)
    return most < 1 << 8 * least - 1
