"""Which originals are asked about opposite ends of ranges in ever longer rows, few of them.

What is carried from place to place grows with a row, and what is added up of it with the square. At
sixteen times the declared length that is 256 times as much: a sum in 32 bits that is a hundredth of
them in declared rows does not hold it. All arrays at the same end make up for each other, and rows
that chance draws as well; opposite ends are asked of rows beyond what is alike in other families
alone (`runners.opposed`), which is far longer than most rows get. Here the others are small, and
one size goes up by fours to sixteen times the declared, or as far as there is room.

An original's own sums may not fit into its words there, and then nothing is promised. So its
shorter rows are asked with the longest: these tell what the next comes to (`runners.told`), and
from the first that it does not come to nothing is held against anybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from runners import full_counts, longest, opposed, opposite_ends, sizes
from runners.axes import farthest, plane
from runners.contents import Combination
from runners.families import OPPOSITE_ROWS, captured_work
from runners.opposite_ends import HIGH, LOW
from runners.piles import Range
from runners.spec import Work

# From one length to the next, and how many there are; the longest is so many times the declared.
STEP, LENGTHS, LEAST_TIMES = 4, 4, 2
# Elements of all buffers, sizes that are tried, and the arrays whose turn it is.
MOST_ELEMENTS, MOST_NAMES, MOST_ARRAYS = full_counts.MOST_ELEMENTS, 2, 3

Case = Mapping[str, float]


def lines(work: Work) -> Iterator[tuple[str, list[Case]]]:
    """Yield sizes, and for each the cases in which it is ever longer."""
    if captured_work(work) or not opposed.whole(work):
        return
    every = opposite_ends.amounts(work)
    taken = {name for line in longest.cases(work) for name in line[0] if _far(work, name, line[0])}
    names = [name for name in sizes.sizing(work) if name not in taken]
    found = 0
    for name in sorted(names, key=lambda name: full_counts.grows(work, name)):
        if sizes.largest(work, name) < full_counts.LEAST or found == MOST_NAMES:
            continue
        line = _lengths(work, name)
        if line and _grow(every, line) and opposed.fits(work, line[-1]):
            found += 1
            yield name, line


def _far(work: Work, name: str, case: Case) -> bool:
    return case[name] > sizes.largest(work, name)


def _lengths(work: Work, name: str) -> list[Case]:
    """Return cases up to the longest one, of which the first two are no longer than declared."""
    most = int(sizes.largest(work, name))
    top = sizes.TIMES_LONGER * most
    high, others = farthest(work, name, top, MOST_ELEMENTS)
    if high < LEAST_TIMES * most:
        return []
    lengths = [high // STEP**less for less in range(LENGTHS)][::-1]
    return [{**others, name: float(length)} for length in lengths]


def _grow(every: Sequence[Range], line: Sequence[Case]) -> bool:
    """Tell whether something is carried further from case to case: a difference of amounts."""
    longer = [one for one in every if plane(one[0], line[-1]) != plane(one[0], line[0])]
    return bool(longer) if len(every) > 1 else any(map(opposite_ends.signed, longer))


def combinations(work: Work, seed: int) -> Iterator[Combination]:
    """Yield what is asked: all lengths of each way, the shortest first."""
    arrays = len(opposite_ends.amounts(work))
    # Of two arrays one is low where the other is high.
    turns = 1 if arrays < MOST_ARRAYS else MOST_ARRAYS
    for name, line in lines(work):
        for which in range(turns):
            for end in (LOW, HIGH):
                family = f"{OPPOSITE_ROWS} {which} {end} {name}"
                yield from (Combination(case, family, seed) for case in line)


def ways(asked: Sequence[Combination]) -> list[list[Combination]]:
    """Return, of all that is asked, each way by itself, its lengths in their order."""
    found: dict[str, list[Combination]] = {}
    for one in asked:
        if one.family.partition(" ")[0] == OPPOSITE_ROWS:
            found.setdefault(one.family, []).append(one)
    return list(found.values())


def lengths(line: Sequence[Combination]) -> list[float]:
    """Return how long a way's lengths are, one by one: its size has no blank in its name."""
    return [one.case[one.family.rpartition(" ")[2]] for one in line]
