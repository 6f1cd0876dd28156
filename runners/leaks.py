"""Does an entry function keep more after each call? Counts what it holds after calls of one size.

A buffer that is kept for the next call, and grows with the largest so far, is as large after the
second call of one size as after the hundredth. What grows on and on ends a program that calls it
often enough, though each result is right.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence

from runners.allocations import KINDS, Holdings
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.families import DECLARED
from runners.session import Session
from runners.spec import CaseSpec, JobSpec

# Calls of one size in a row; of what seems to grow, and then of its original, so many more.
CALLS, MORE_CALLS = 24, 96
# With fewer nothing is said. What grows does so over three stretches behind the first quarter.
FEWEST, STRETCHES = 8, 3
# For all sizes of a finalist, for the one size of others, and for one that seems to grow; where a
# run takes others longer than the last they are not called.
SECONDS, FEW_SECONDS, MORE_SECONDS, QUICK = 2.0, 0.03, 10.0, 0.1
# What is held by then is told from memory that runs out.
MOST_GROWN = 4 << 30
# What an original keeps, too, may be rounded up.
ALIKE = 1.125
_NAMES = {
    "device": "device memory",
    "pinned": "pinned host memory",
    "streams": "stream",
    "events": "event",
    "graphs": "graph",
}


def check(session: Session, answers: Answers, job: JobSpec, report: Report) -> None:
    """Raise `Wrong` if the candidate holds more after each further call than its original does.

    A finalist is called on all declared sizes, the smallest and the largest first; others on the
    smallest, where that is quick. Where nobody sees what they hold, nothing is said.
    """
    declared = [Combination(case.values, DECLARED, job.seed) for case in job.work.cases]
    chosen = [one for one in declared if answers.of(one) is not None]
    chosen.sort(key=lambda one: job.work.elements(one.case))
    seconds = SECONDS
    if job.checks == "confirm":
        chosen = [*chosen[:1], *chosen[:0:-1]]
    else:
        chosen = [one for one in chosen[:1] if answers.seconds(one) <= QUICK]
        seconds = FEW_SECONDS
    deadline = time.monotonic() + seconds
    for combination in chosen:
        left = deadline - time.monotonic()
        if left <= 0:
            break
        patience = answers.patience(combination)
        mine = session.holdings(combination, CALLS, left, patience)
        if mine is None:
            return
        if any(_rises(mine, kind) for kind in KINDS):
            calls = int(MOST_GROWN / max(1.0, _each(mine, "device")))
            terms = (combination, max(CALLS, min(MORE_CALLS, calls)), MORE_SECONDS, patience)
            mine = session.holdings(*terms) or []
            theirs = session.holdings(*terms, original=True) or []
            _compare(combination, mine, theirs, report)
        if len(mine) >= FEWEST:
            report.add("fresh world", "memory given back", passed=True, error=None, bound=None)


def _compare(
    combination: Combination, mine: Sequence[Holdings], theirs: Sequence[Holdings], report: Report
) -> None:
    """Raise `Wrong` for the first kind of thing of which the candidate keeps more and more."""
    for kind in (kind for kind in KINDS if _rises(mine, kind)):
        each, known = _each(mine, kind), max(0.0, _each(theirs, kind))
        bound = ALIKE * known
        if each > bound:
            report.add("fresh world", "memory given back", passed=False, error=each, bound=bound)
            where = f"{CaseSpec(combination.case).name}, {combination.family} inputs"
            words = _words(kind, each - known)
            raise Wrong("wrong result", f"keeps {words} after each call ({where})")


def _settled(readings: Sequence[Holdings], kind: str) -> list[int]:
    """Return how much is held after each call, but for the first ones, which may set things up."""
    return [int(getattr(one, kind)) for one in readings[len(readings) // 4 :]]


def _rises(readings: Sequence[Holdings], kind: str) -> bool:
    """Tell whether the least that is held rises from each stretch of calls to the next.

    What is given back late, or in one go after some calls, comes down to the same each time.
    """
    if len(readings) < FEWEST:
        return False
    counts = _settled(readings, kind)
    size = len(counts) // STRETCHES
    least = [min(counts[n * size : (n + 1) * size]) for n in range(STRETCHES)]
    return all(one < other for one, other in itertools.pairwise(least))


def _each(readings: Sequence[Holdings], kind: str) -> float:
    """Return by how much a call adds to what is held."""
    counts = _settled(readings, kind)
    return (counts[-1] - counts[0]) / (len(counts) - 1) if len(counts) > 1 else 0.0


def _words(kind: str, more: float) -> str:
    """Say how much more of something.

    >>> _words("device", 500_004.0), _words("device", 64.0), _words("streams", 2.0)
    ('0.5 MB more of device memory', '64 bytes more of device memory', '2 streams more')
    """
    name = _NAMES[kind]
    if name.endswith("memory"):
        size = f"{more / 1e6:.3g} MB" if more >= 1e5 else f"{more:.4g} bytes"
        return f"{size} more of {name}"
    return f"{more:.3g} {name}{'' if more == 1 else 's'} more"
