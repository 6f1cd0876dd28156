"""The evaluator that the search is given: kernels become jobs, jobs become verdicts."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from optimizer.boundary import violations
from optimizer.model import Check, Effort, Kernel, Status, Verdict, Workload
from runners.awaited import Awaited
from runners.interfaces import Dispatcher, Expectant, Job

Boundary = Callable[..., Sequence[str]]


class DispatchedEvaluator:
    """Judges kernels against one baseline through a dispatcher; asks nothing twice.

    `seed` decides inputs and the order of timed blocks; a confirmation gets another, so that its
    data are fresh. A source outside the edit boundary is rejected without being compiled.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        baseline: Kernel,
        device: str = "cuda:0",
        seed: int = 0,
        boundary: Boundary = violations,
    ) -> None:
        self._dispatcher = dispatcher
        self._baseline = baseline
        self._device = device
        self._seed = seed
        self._boundary = boundary
        # Which answer to look at, and where in it: it may not be in yet.
        self._known: dict[tuple[str, Effort, int], tuple[Sequence[Verdict], int]] = {}
        self._confirmations = 0
        self._until = math.inf

    def within(self, seconds: float) -> None:
        """Hear in how many seconds an answer asked for next is of use."""
        self._until = time.monotonic() + seconds

    def evaluate(
        self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        """Return one verdict per kernel, in order; each is waited for when it is looked at."""
        seed = self._seed
        if effort is Effort.CONFIRM:
            self._confirmations += 1
            seed += 1_000_003 * self._confirmations
        left, self._until = self._left(effort), math.inf
        keys = [(k.digest, effort, seed) for k in kernels]
        wanted: dict[tuple[str, Effort, int], Job] = {}
        for key, kernel in zip(keys, kernels, strict=True):
            if key in self._known or key in wanted:
                continue
            outside = self._outside(kernel, workload)
            if outside:
                self._known[key] = ((rejected(outside),), 0)
            else:
                job = Job(kernel, self._baseline, workload, self._device, effort, seed)
                wanted[key] = replace(job, within=left)
        if wanted:
            found = self._dispatcher.dispatch(list(wanted.values()))
            self._known.update((key, (found, place)) for place, key in enumerate(wanted))
        answers = Awaited.each([self._known[key] for key in keys])

        def cancel(place: int) -> bool:
            cancelled = answers.cancel(place)
            if cancelled:
                self._known.pop(keys[place], None)  # it may be asked about once more
            return cancelled

        return Awaited(len(keys), answers.__getitem__, answers.ready, answers.prefer, cancel)

    def _left(self, effort: Effort) -> float:
        """Return the seconds within which a job is of use; 0: whenever it is done."""
        if effort not in {Effort.PROFILE, Effort.CONFIRM} or not math.isfinite(self._until):
            return 0.0
        return max(0.001, self._until - time.monotonic())

    def expect(self, kernels: Sequence[Kernel], workload: Workload) -> bool:
        """Have what can be begun ahead begun; False where that is nothing."""
        if not isinstance(self._dispatcher, Expectant):
            return False
        return self._dispatcher.expect(
            [
                Job(kernel, self._baseline, workload, self._device, Effort.SCREEN, self._seed)
                for kernel in kernels
                if not self._outside(kernel, workload)
            ]
        )

    def _outside(self, kernel: Kernel, workload: Workload) -> Sequence[str]:
        if kernel.source == self._baseline.source:
            return ()
        allow_host = workload.accept.edit_host
        return self._boundary(self._baseline.source, kernel.source, allow_host=allow_host)


def rejected(reasons: Sequence[str]) -> Verdict:
    """Return the verdict on a source that differs where a candidate may not."""
    check = Check("edit boundary", "; ".join(reasons)[:2000], passed=False)
    return Verdict(Status.REJECTED, checks=(check,), log="\n".join(reasons)[:8000])
