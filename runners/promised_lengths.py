"""Sizes as long as a candidate has to be right for, where that is no more than a small case.

Lengths beyond the declared are such as kernels run out of room at (`sizes.far_beyond`,
`sizes.CAPACITIES`): a row of 600 is tried at 1,088 and at 4,165, one of 2,000 at 12,352, ten
thousand at 58,176. Between the last of these and sixteen times the declared, where decision 8 ends,
may be four times as much, and what ends there is met by nothing: 16 bits of a place, a row in
shared memory as halves, three tiles of 2,048. `runners.longest` asks the end itself of what is
long by itself, and left out what is a small case there, as if that were asked anyway.

So each size that buffers grow by is asked at that end, the others as in the smallest declared case
or less: at whole words, as some ways are gone for those alone, and at an odd size. A case four
times as long as declared comes first, and tells what the original is likely to take.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from runners import capacities, sizes
from runners.families import captured_work
from runners.sizes import TIMES_LONGER
from runners.spec import Work

# How many times as long as declared what comes first is, and what whole sizes are multiples of.
FIRST, WORD = 4, 64

Case = Mapping[str, float]


def cases(work: Work) -> Iterator[dict[str, float]]:
    """Yield, for each size, cases in which it is longer, the shortest first."""
    if captured_work(work):
        return
    least = min((case.values for case in work.cases), key=lambda case: sizes.elements(work, case))
    for name in sizes.sizing(work)[: sizes.MOST_LONG]:
        top = TIMES_LONGER * int(sizes.largest(work, name))
        for others in (least, *sizes.few_others(work, name)):
            longest = {**others, name: float(top)}
            if 0 < sizes.elements(work, longest) <= capacities.MOST_ELEMENTS:
                yield from ({**others, name: float(one)} for one in lengths(top))
                break


def lengths(top: int) -> list[int]:
    """Return a length that comes first, and both that are the last, the shorter ones first.

    >>> lengths(9600), lengths(16 * 1001), lengths(48)
    ([2368, 9599, 9600], [3968, 16000, 16015], [12, 47, 48])
    """
    first = TIMES_LONGER // FIRST
    return sorted({_whole(top // first), _whole(top), top - 1})


def _whole(size: int) -> int:
    """Return the largest whole number of words up to a size; itself where there is none."""
    return size // WORD * WORD or size
