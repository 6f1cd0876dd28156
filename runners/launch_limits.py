"""From which size on a candidate's launch fails where its original's does not.

A grid has 65,535 blocks in y and z, a block 1,024 threads and so much shared memory. Far beyond
what is declared that is no fault, but whoever takes the candidate has to know.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from runners import sizes
from runners.expressions import ExpressionError
from runners.families import captured_work
from runners.gpu import LaunchError
from runners.launchable import geometry
from runners.spec import JobSpec, Launch

# What a block may have on any GPU that is sold today.
SHARED_BYTES = 227 << 10
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

            def why(launch: Launch, size: int, others: Case = others, name: str = name) -> str:
                return fails(launch, {**others, name: float(size)}, shared_bytes)

            low, high = largest, _first_beyond(largest, lambda size: bool(why(mine, size)))
            if high is None or why(mine, low) or why(theirs, high):
                continue
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if why(mine, middle) else (middle, high)
            if high > MOST_TIMES * largest:
                break
            factor = high / largest
            shown = f"{factor:,.0f}" if factor >= 100 else f"{factor:.3g}"
            times = f"{shown} times the largest declared"
            found.append(
                f"its launch fails from {name}={high:,} on, {times}, where the original's does not:"
                f" {why(mine, high)}"
            )
            break
    return found


def _first_beyond(value: int, fails: Callable[[int], bool]) -> int | None:
    """Return a size that fails, by powers of two of a value; None where none below 2^31 does."""
    while value < MOST_SIZE:
        value *= 2
        if fails(min(value, MOST_SIZE)):
            return min(value, MOST_SIZE)
    return None


def fails(launch: Launch, case: Case, shared_bytes: int) -> str:
    """Say why a launch fails by its geometry; nothing where it does not, or cannot be known."""
    try:
        shared = geometry(launch, case)[2]
    except LaunchError as error:
        return str(error)
    except (ExpressionError, ValueError):
        return ""
    return f"{shared:,} bytes of shared memory a block" if shared > shared_bytes else ""
