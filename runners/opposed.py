"""Which originals are asked about arrays at opposite ends of their ranges, and in which cases.

Those that make whole numbers of 32 bits and more of whole numbers alone, and read two arrays of
amounts at least, or one that may be below zero: what comes of floats depends on the order in which
they are added, the more so where all errors go one way. Cases are long ones, the largest declared
and those that are as long as a candidate has to be right (`runners.longest`): in smaller ones whole
arrays are at their ends in other families, too. An original that adds up in 32 bits is right as
long as its sums fit into them, and is asked nowhere beyond: there another order of sums and maxima
gives another result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from runners import longest, opposite_ends, piles, sizes
from runners.contents import Combination
from runners.expressions import names
from runners.piles import Range
from runners.spec import Work
from runners.whole_families import HOT, exact
from runners.whole_numbers import row_lengths

# Elements of all buffers of a declared case.
MOST_ELEMENTS = longest.MOST_ELEMENTS


def combinations(work: Work, seed: int) -> Iterator[Combination]:
    """Yield what is asked: two ways in the largest declared case, and two in each longest one."""
    if not whole(work):
        return
    declared = max((case.values for case in work.cases), key=work.elements)
    lines: list[Sequence[Mapping[str, float]]] = [*longest.cases(work)]
    if work.elements(declared) <= MOST_ELEMENTS:
        lines = [[declared], *lines]
    number = 0
    for line in lines:
        asked = [case for case in line if _long(work, case) and fits(work, case)]
        for case in asked:
            kinds = opposite_ends.turns(work, number)
            yield from (Combination(case, kind, seed) for kind in kinds)
        # A shorter one is asked in place of a longer one, and in the same way.
        number += bool(asked)


def whole(work: Work) -> bool:
    """Tell whether nothing but whole numbers goes in and comes out, of 32 bits at least."""
    return exact(work) and piles.whole_results(work)


def _long(work: Work, case: Mapping[str, float]) -> bool:
    """Tell whether amounts that differ are longer here than what is alike in other families."""
    found = [one for one in opposite_ends.amounts(work) if _row(one, case) > HOT]
    return len(found) > 1 or any(map(opposite_ends.signed, found))


def _row(one: Range, case: Mapping[str, float]) -> int:
    """Return how long an array's rows are; all of it where only one size is in its shape."""
    shape = one[0].shape or "1"
    if len(names(shape)) == 1:
        return sizes.buffer(one[0], case)
    return max(row_lengths(shape, case), default=0)


def fits(work: Work, case: Mapping[str, float]) -> bool:
    """Tell whether sums of all that is in a case fit into the results' words, signs and all.

    And sums of products, where a number may be below zero: those of others are no larger than by
    chance while one of them is small.
    """
    every = opposite_ends.amounts(work)
    ends = [max(abs(low), abs(high), 1) for _, low, high in every]
    many = max((sizes.buffer(argument, case) for argument, *_ in every), default=0)
    most = sum(ends)
    if any(low < 0 for _, low, _ in every):
        most = max(most, math.prod(ends))
    return many * most < room(work)


def room(work: Work) -> int:
    """Return what sums have room for: what the narrowest results hold.

    Where the original's text has words of 64 bits and some result is one, that is where its sums
    go: the level of a pond stays narrow, whatever is poured.
    """
    sizes_of = [one.scalar.size for a in piles.written(work) for one in a.type.fields]
    size = max(sizes_of) if work.wide else min(sizes_of)
    return 1 << 8 * size - 1
