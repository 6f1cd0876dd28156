"""From which size on a candidate's launch fails where its original's does not.

A grid has 65,535 blocks in y and z, a block 1,024 threads and so much shared memory. Far beyond
what is declared that is no fault, but whoever takes the candidate has to know.
"""

from __future__ import annotations

from collections.abc import Mapping

from runners import sizes
from runners.expressions import ExpressionError
from runners.families import captured_work
from runners.gpu import LaunchError
from runners.launchable import geometry
from runners.limit import said
from runners.spec import JobSpec, Launch

# What a block may have on any GPU that is sold today.
SHARED_BYTES = 227 << 10
# What such a note is known by, of a kernel's launch or one of host code.
FAILS = "its launch fails from"
# Sizes, and how many times the declared one, that somebody may come to.
MOST_SIZE, MOST_TIMES = 2**31 - 1, 10_000

Case = Mapping[str, float]


def limits(job: JobSpec, shared_bytes: int) -> list[str]:
    """Say from which size on a candidate's launch fails where its original's does not.

    `shared_bytes` is what a block may have on this GPU. The other variables are small, or as the
    smallest case has them. What fails within `TIMES_LONGER` of the declared is found by running it.
    """
    mine, theirs = job.kernel.launch, job.work.launch
    if mine is None or theirs is None or mine == theirs or captured_work(job.work):
        return []
    found = []
    for name in sizes.changing(job.work):
        largest = int(sizes.largest(job.work, name))
        for others in sizes.few_others(job.work, name):
            size, why = _first_failure(
                (mine, theirs), {**others, name: float(largest)}, name, shared_bytes
            )
            if why and size <= MOST_TIMES * largest:
                found.append(words(name, size, why, largest))
            if why:
                break
    return found


def words(name: str, size: int, why: str, largest: int) -> str:
    """Return the note that says from which size of a variable on a launch fails.

    >>> words("n", 70_000, "grid.y is 65536", 1000).partition(", where")[0]
    'limit: its launch fails from n=70,000 on, 70 times the largest declared'
    """
    times = times_words(size / largest)
    where = f"{FAILS} {name}={size:,} on, {times} times the largest declared"
    return said(f"{where}, where the original's does not: {why}")


def times_words(times: float) -> str:
    """Write a factor as people read it.

    >>> times_words(37.748), times_words(1234.5)
    ('37.7', '1,234')
    """
    return f"{times:,.0f}" if times >= 100 else f"{times:.3g}"


def _first_failure(
    pair: tuple[Launch, Launch], case: Case, name: str, shared_bytes: int
) -> tuple[int, str]:
    """Return the size of a variable from which on the first of two launches fails alone, and why.

    Nothing as the reason where it fails at once, or nowhere, or the other one does so as well.
    """

    def why(launch: Launch, size: int) -> str:
        return fails(launch, {**case, name: float(size)}, shared_bytes)

    mine, theirs = pair
    low = high = int(case[name])
    while high < MOST_SIZE and not why(mine, high):
        low, high = high, min(2 * high, MOST_SIZE)
    if high == low or not why(mine, high) or why(theirs, high):
        return high, ""
    size = sizes.least_above(low, high, lambda size: bool(why(mine, size)))
    return size, why(mine, size)


def fails(launch: Launch, case: Case, shared_bytes: int) -> str:
    """Say why a launch fails by its geometry; nothing where it does not, or cannot be known."""
    try:
        shared = geometry(launch, case)[2]
    except LaunchError as error:
        return str(error)
    except (ExpressionError, ValueError):
        return ""
    return f"{shared:,} bytes of shared memory a block" if shared > shared_bytes else ""
