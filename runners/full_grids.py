"""Cases in which the blocks of a grid that has an end go round: to a second piece of work, a third.

`min(528, tiles)` blocks take one tile each until there are more of those. What a block does behind
a piece and before the next one, as to wait until all have read what lies in shared memory, matters
from the second on: small cases have none, and large ones are not for tools that slow a kernel down.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from runners import sizes
from runners.expressions import ExpressionError, count, endless, names
from runners.families import DECLARED, PLAIN
from runners.launch_limits import SHARED_BYTES, fails
from runners.sizes import TIMES_LONGER
from runners.spec import JobSpec, Launch, Work

# Contents under which a schedule shows, and the elements of a case that warps are delayed in over
# and over, and of one that tools a thousand times slower look at.
FAMILIES = frozenset({DECLARED, PLAIN, "mixed", "integers"})
SHAKEN_ELEMENTS, WATCHED_ELEMENTS = 1 << 21, 1 << 16
# All blocks go round once, some twice; some go round at all.
TWICE, ONCE = 2.0, 1.25
# A grid of so few blocks that is the same for all sizes has work enough for each anywhere.
FEW_BLOCKS = 32

Case = Mapping[str, float]


def turns(job: JobSpec, case: Case) -> float:
    """Return how many pieces of work a block of a candidate's launch has; 1 where nothing says so.

    By the blocks that there were if the grid had no end. Of one that is the same for all sizes, by
    the original's, in blocks or threads, what are fewer.
    """
    mine, theirs = job.kernel.launch or job.work.launch, job.work.launch
    if mine is None or theirs is None or job.work.kind != "kernel":
        return 1.0
    try:
        blocks = _product(mine.grid, case)
        if not _fixed(mine):
            return _product(tuple(map(endless, mine.grid)), case) / max(1, blocks)
        if blocks < FEW_BLOCKS:
            return 1.0
        whole = _product(tuple(map(endless, theirs.grid)), case)
        threads = _product(theirs.block, case) / max(1, _product(mine.block, case))
        return whole / blocks * min(1.0, threads)
    except ExpressionError:
        return 1.0


def ends(job: JobSpec) -> bool:
    """Tell whether a candidate's launch has no more blocks than so many, whatever the sizes are."""
    mine, theirs = job.kernel.launch or job.work.launch, job.work.launch
    if mine is None or theirs is None or job.work.kind != "kernel":
        return False
    try:
        if _fixed(mine):
            return not _fixed(theirs) and _product(mine.grid, {}) >= FEW_BLOCKS
        return any(endless(entry) != entry for entry in mine.grid)
    except ExpressionError:
        return False


def cases(job: JobSpec, asked: Sequence[Case]) -> Iterator[dict[str, float]]:
    """Yield cases in which blocks go round where none that is asked is one: for delays, for tools.

    As a declared one but for a side that is longer; where that is too much, with few of the others.
    """
    if not ends(job):
        return
    known = [dict(case) for case in asked]
    for most, least in ((SHAKEN_ELEMENTS, TWICE), (WATCHED_ELEMENTS, ONCE)):
        if any(
            turns(job, case) > least and 0 < sizes.elements(job.work, case) <= most
            for case in known
        ):
            continue
        fit = (case for more in dict.fromkeys((TWICE, least)) for case in _least(job, more, most))
        found = next(fit, None)
        if found is not None:
            known.append(found)
            yield found


def _least(job: JobSpec, more: float, most: int) -> Iterator[dict[str, float]]:
    """Yield cases of so many elements at most with more turns than that, what is natural first."""
    work = job.work
    launch = job.kernel.launch or work.launch
    long = sizes.sizing(work)[: sizes.MOST_LONG]
    for others in _others(work):
        found = []
        for name in long:

            def exceeds(size: int, name: str = name, others: Case = others) -> bool:
                return turns(job, {**others, name: float(size)}) > more

            high = int(TIMES_LONGER * sizes.largest(work, name))
            if not exceeds(high):
                continue
            case = {**others, name: float(sizes.least_above(0, high, exceeds))}
            fits = 0 < sizes.elements(work, case) <= most
            if fits and launch is not None and not fails(launch, case, SHARED_BYTES):
                found.append(case)
        yield from sorted(found, key=lambda case: sizes.elements(work, case))


def _others(work: Work) -> Iterator[dict[str, float]]:
    yield dict(min(work.cases, key=lambda case: sizes.elements(work, case.values)).values)
    yield from sizes.few_others(work, sizes.sizing(work)[0]) if sizes.sizing(work) else ()


def _fixed(launch: Launch) -> bool:
    return not any(map(names, launch.grid))


def _product(entries: Sequence[str], case: Case) -> int:
    return math.prod(count(entry, case) for entry in entries)
