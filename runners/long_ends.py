"""Whole numbers at the ends of their ranges along rows and arrays as long as they may be.

In small cases whole arrays are at their ends in other families; in large ones no more than `HOT` of
them are, and rows that are sixteen times as long as declared meet what is drawn alone. So a sum
beyond 32 bits, beyond what a float holds, and a product of two such sums are not seen there. Here
all amounts that are only read are near their last numbers together, or near their first ones.

And where rows are long, each is another mixture of both ends: what is made of their sums keeps its
order where all are as dense as each other. What the numbers are is in `runners.end_contents`.

Asked are originals that make whole numbers of whole numbers, as long as all that they add up or
multiply fits into their words: beyond, another order gives another result of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from runners import end_contents, full_counts, longest, opposed, opposite_ends, piles, sizes
from runners.contents import Combination
from runners.families import DENSITIES, FAR_ENDS, FULL_ENDS, captured_work
from runners.opposite_ends import HIGH, LOW
from runners.original import LARGE
from runners.spec import Work
from runners.whole_families import LEAST_WIDE, alike

Case = Mapping[str, float]
# Elements of all buffers of a declared case, and its bytes.
MOST_ELEMENTS, MOST_BYTES = 1 << 26, longest.MOST_BYTES
# How many amounts are multiplied; whole numbers that are all exact in a float; signed words.
FACTORS, EXACT, WORD = 3, 1 << 24, 1 << 31


def combinations(work: Work, seed: int) -> Iterator[Combination]:
    """Yield what is asked: of the largest declared case, of longest ones, and of long rows."""
    if captured_work(work) or not piles.amounts(work):
        return
    rows = [*_long_rows(work)]
    if opposed.whole(work):
        for case in _far(work):
            yield from (Combination(case, f"{FAR_ENDS} {end}", seed) for end in (HIGH, LOW))
        for case in rows:
            if fits(work, case):
                yield from (Combination(case, f"{FULL_ENDS} {end}", seed) for end in (HIGH, LOW))
    for case in rows:
        if _mixed(work, case):
            turns = range(end_contents.turns(work))
            yield from (Combination(case, f"{DENSITIES} {turn}", seed) for turn in turns)


def _far(work: Work) -> Iterator[Case]:
    """Yield the largest declared case and the longest ones, where all ends are nowhere else.

    Where a longer one was asked about opposite ends, a shorter one is left out in time
    (`runners.capacities`): all that it may show is in the longest, too.
    """
    declared = max((case.values for case in work.cases), key=work.elements)
    known: list[Case] = []
    if len(opposite_ends.amounts(work)) == 1:
        # Low and high is what a single array is there, too.
        known = [one.case for one in opposed.combinations(work, 0)]
    size = longest.total_bytes(work, declared)
    fit = work.elements(declared) <= MOST_ELEMENTS and size <= MOST_BYTES
    lines: list[Sequence[Case]] = [[declared] if fit else [], *longest.cases(work)]
    for case in (line[0] for line in lines if line):
        if case not in known and _unseen(work, case) and fits(work, case):
            yield case


def _unseen(work: Work, case: Case) -> bool:
    """Tell whether amounts are longer than other families put at their ends."""
    if work.elements(case) > LARGE:
        return True
    for argument, low, high in opposite_ends.amounts(work):
        count = sizes.buffer(argument, case)
        if any(alike(field, low, high, count) < count for field in argument.type.fields):
            return True
    return False


def _long_rows(work: Work) -> Iterator[Case]:
    """Yield cases with rows of amounts sixteen times as long as declared, or nearly so."""
    declared = max((case.values for case in work.cases), key=work.elements)
    for line in full_counts.cases(work):
        if any(
            end_contents.row(one, line[-1]) > end_contents.row(one, declared)
            for one in piles.amounts(work)
        ):
            yield line[-1]


def _most(work: Work, case: Case) -> int:
    """Return how large a sum over all of the amounts may be, or one of their products."""
    every = piles.amounts(work)
    ends = sorted((max(abs(low), abs(high), 1) for _, low, high in every), reverse=True)
    many = max((sizes.buffer(argument, case) for argument, *_ in every), default=0)
    return many * max(sum(ends), ends[0] ** 2, math.prod(ends[:FACTORS]))


def fits(work: Work, case: Case) -> bool:
    """Tell whether all that a case's amounts add up to, or multiply to, fits into its words."""
    return bool(opposite_ends.amounts(work)) and _most(work, case) < opposed.room(work)


def _mixed(work: Work, case: Case) -> bool:
    """Tell whether rows of several densities are asked: what comes of them is exact.

    Floats, if there are any, are made of whole numbers that fit into them. What is made of two sums
    fits into 32 bits, or the original's text has words of 64.
    """
    every = piles.amounts(work)
    pointers = [one for one in work.arguments if one.type.pointer]
    read = [field for one in pointers if not one.written for field in one.type.fields]
    scalars = [one for one in work.arguments if not one.type.pointer]
    drawn = [*read, *(field for one in scalars for field in one.type.fields)]
    results = [field for one in piles.written(work) for field in one.type.fields]
    if any(field.scalar.kind == "f" for field in drawn):
        return False
    if not any(f.scalar.kind != "f" and f.scalar.size >= LEAST_WIDE for f in results):
        return False
    if not any(sizes.buffer(one[0], case) > end_contents.row(one, case) for one in every):
        return False
    most = _most(work, case)
    exact = most < (WORD if opposed.whole(work) else EXACT)
    return exact and (work.wide or most**2 < WORD)
