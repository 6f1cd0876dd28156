"""Ask the hardware's counters about a gain of more than tenfold, and the clock once more.

Where a busy host, or somebody else on the GPU, made the longer of two times longer still, no
counter shows the gain, though the candidate did nothing wrong. So what the counters do not show is
measured again before it is refused, and what counts is what was measured last.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from pathlib import Path

from runners import counted
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.families import DECLARED
from runners.spec import CaseSpec, JobSpec, Json

LAYER = "plausibility"
# For one count; and how often a gain that no counter shows is timed again.
SECONDS, AGAIN = 60.0, 3

# Gives µs of candidate and original on a case: `candidate_us` and `baseline_us`.
Again = Callable[[CaseSpec], Mapping[str, list[float]]]


class LargeGains:
    """Compares gains with cycles. An original's are counted once for all its candidates."""

    def __init__(self, gpu: int, scratch: Path) -> None:
        self._gpu, self._scratch = gpu, scratch
        self._cycles: dict[tuple[str, str], float | None] = {}

    def check(
        self, request: Json, job: JobSpec, measured: Json, again: Again, report: Report
    ) -> None:
        """Change what was measured where it was not believed at first; raise `Wrong` for a lie."""
        timed = [case for case in job.work.cases if case.timed]
        for case, found in zip(timed, measured["cases"], strict=True):
            first = gain = _gain(found)
            bound = self._bound(request, job, case, gain)
            turns = 0
            while bound is not None and gain > bound and turns < AGAIN:
                found.update(again(case))
                self._cycles.pop(_key(job, case), None)
                gain, turns = _gain(found), turns + 1
                bound = self._bound(request, job, case, gain)
            if turns:
                often = "" if turns == 1 else f" ({turns} times)"
                measured["notes"].append(
                    f"{case.name}: timed again{often}, because no counter fell {first:.3g} times:"
                    f" {gain:.3g} times as fast"
                )
            if bound is None:
                continue
            fine, what = gain <= bound, f"{case.name}: {counted.CHECKED}"
            report.add(LAYER, what, passed=fine, error=gain, bound=bound)
            if not fine:
                raise Wrong(
                    "rejected",
                    f"{case.name}: {gain:.3g} times as fast, and no counter fell alike",
                )

    def _bound(self, request: Json, job: JobSpec, case: CaseSpec, gain: float) -> float | None:
        """Return the largest gain that cycles allow; None where nobody asks, or can know."""
        if gain <= counted.LARGE_GAIN:
            return None
        combination, key = _combination(job, case), _key(job, case)

        def cycles(which: str) -> float | None:
            return counted.cycles(request, which, combination, self._gpu, self._scratch, SECONDS)

        if self._cycles.get(key) is None:
            self._cycles[key] = cycles("baseline")
        return counted.most_gain(self._cycles[key], cycles("candidate"))


def _combination(job: JobSpec, case: CaseSpec) -> Combination:
    return Combination(case.values, DECLARED, job.seed)


def _key(job: JobSpec, case: CaseSpec) -> tuple[str, str]:
    """Name what an original's cycles are kept under."""
    return job.key, _combination(job, case).key


def _gain(case: Json) -> float:
    """Return how many times as fast the candidate was on a case."""
    pairs = zip(case["baseline_us"], case["candidate_us"], strict=True)
    return float(statistics.median(b / c for b, c in pairs))
