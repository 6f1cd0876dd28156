"""Sizes beyond which a candidate's launch stops growing, read off its expressions.

`min(32, (disp + 31) / 32)` warps are all there are from 1,024 on: that is a number of the
candidate's own, though nothing in its text says it. Who goes on in a loop there is right, and who
has a thread for each element has none for the next. Up to 16 times the declared that is seen
anyway; silently wrong results beyond are looked for as they are beside numbers of a text
(`runners.thresholds`), up to 256 times, where the launch is known not to fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from runners import sizes
from runners.expressions import ExpressionError, count
from runners.launch_limits import SHARED_BYTES, fails
from runners.spec import JobSpec, Launch

# What is as far beyond as what a text names (`runners.thresholds`), so that a block is full there.
FURTHER = 1029

Case = Mapping[str, float]


def cases(job: JobSpec, farthest: int, most_elements: int) -> Iterator[dict[str, float]]:
    """Yield cases a little beyond where an expression of a candidate's launch ends, of each size.

    Up to so many times the largest declared, of so many elements at most.
    """
    mine, theirs = job.kernel.launch, job.work.launch
    if mine is None or theirs is None:
        return
    for name in sizes.sizing(job.work):
        most = int(sizes.largest(job.work, name))
        for others in sizes.few_others(job.work, name):
            found = sorted(set(_ends(mine, theirs, others, name, (most, farthest * most))))
            tried = [{**others, name: float(size)} for size in found]
            fit = [one for one in tried if 0 < sizes.elements(job.work, one) <= most_elements]
            yield from (one for one in fit if not fails(mine, one, SHARED_BYTES))
            if fit:
                break


def _ends(
    mine: Launch, theirs: Launch, others: Case, name: str, within: tuple[int, int]
) -> Iterator[int]:
    """Yield a size beyond each end of an expression that is not one of the original's."""
    known = {*theirs.grid, *theirs.block, theirs.shared}
    for expression in dict.fromkeys((*mine.grid, *mine.block, mine.shared)):
        if expression not in known:

            def at(size: int, text: str = expression) -> int:
                return count(text, {**others, name: float(size)})

            try:
                end = _beyond(at, *within)
            except (ExpressionError, ValueError):
                continue
            if end <= within[1]:
                yield end


def _beyond(at: Callable[[int], int], low: int, high: int) -> int:
    """Return a size beyond which something that grows up to it has an element more than it counts.

    More than `high` where it goes on growing, or does not grow.

    >>> _beyond(lambda n: min(32, (n + 31) // 32), 64, 16384), _beyond(lambda n: n // 2, 64, 16384)
    (2022, 16385)
    >>> _beyond(lambda n: min(8, (n + 4095) // 4096), 64, 1 << 20)
    32774
    """
    last = at(high)
    if not at(low) < at(high // 2) == last:
        return high + 1
    end = sizes.least_above(low, high, lambda size: at(size) >= last)
    before = at(end - 1)
    # As many more as each further one was for.
    step = end - sizes.least_above(0, end, lambda size: at(size) >= before)
    return end + max(FURTHER, step + FURTHER % 1024)
