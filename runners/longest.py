"""Flat sizes as long as a candidate has to be right: sixteen times the declared.

Where a size is a row's, or one of several, as much is asked of small cases
(`runners.promised_lengths`). What is a million long by itself is not among those: a table of 256
sums, which ends at two million. So one such case is asked of each flat size, as far as memory goes;
where the original would take too long there, a shorter one.

And one more of it, which is whole words: who has four at a time where all sizes allow that, and
does as the original elsewhere, is far beyond the declared nowhere else. Half of all flat sizes of
the red team were asked at no multiple of four beyond 1.2 times the declared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from runners import capacities, sizes
from runners.contents import Combination
from runners.families import LONGEST, captured_work
from runners.sizes import TIMES_LONGER
from runners.spec import Work

# Elements of all buffers, and bytes; how many times as long the shorter one is; flat sizes.
MOST_ELEMENTS: int = 1 << 24
MOST_BYTES: int = 1 << 30
TIMES_SHORTER, LEAST_TIMES, MOST_NAMES = 4, 2, 2
# What whole sizes are multiples of.
WORD = 64


def cases(work: Work) -> Iterator[list[dict[str, float]]]:
    """Yield, for each flat size, cases in which it is longer, the longest first."""
    if captured_work(work):
        return
    names = sorted(sizes.sizing(work), key=lambda name: -sizes.largest(work, name))
    for name in names[:MOST_NAMES]:
        most = int(sizes.largest(work, name))
        for others in sizes.few_others(work, name):
            line = _line(work, others, name, most)
            if line:
                yield line
                break


def _line(work: Work, others: dict[str, float], name: str, most: int) -> list[dict[str, float]]:
    def fits(size: int) -> bool:
        case = {**others, name: float(size)}
        return (
            0 < sizes.elements(work, case) <= MOST_ELEMENTS
            and total_bytes(work, case) <= MOST_BYTES
        )

    top = TIMES_LONGER * most
    if sizes.elements(work, {**others, name: float(top)}) <= capacities.MOST_ELEMENTS:
        return []  # it is a small case (`promised_lengths`)
    if not fits(top):
        top = sizes.least_above(1, top, lambda size: not fits(size)) - 1
    # No whole blocks, nor parts of them that are powers of two: one less than whole words.
    whole = top // WORD * WORD or top
    longest = [size for size in (whole - 1, TIMES_SHORTER * most + 1) if fits(size)]
    longest = [one for one, other in pairwise((*longest, 0)) if one != other]
    if not longest or max(longest) < LEAST_TIMES * most:
        return []
    return [{**others, name: float(size)} for size in sorted(longest, reverse=True)]


def total_bytes(work: Work, case: Mapping[str, float]) -> int:
    """Return the bytes of all buffers of a case."""
    pointers = [one for one in work.arguments if one.type.pointer]
    return sum(sizes.buffer(one, case) * one.type.size for one in pointers)


def combinations(work: Work, seed: int) -> Iterator[Combination]:
    """Yield what is asked, with declared contents: the longest, one more of it, and the shorter."""
    for first, *shorter in cases(work):
        for case in (first, _whole(work, first), *shorter):
            yield Combination(case, LONGEST, seed)


def _whole(work: Work, case: dict[str, float]) -> dict[str, float]:
    """Return a case with one more of what is longer than declared: whole words, mostly."""
    return {k: v + 1 if v > sizes.largest(work, k) else v for k, v in case.items()}
