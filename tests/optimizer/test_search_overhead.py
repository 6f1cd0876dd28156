"""What the search itself costs per candidate."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from optimizer import landscape
from optimizer.budget import Budget, SearchSettings
from optimizer.model import (
    CaseTimes,
    Edit,
    Effort,
    Finding,
    Kernel,
    Measurement,
    Proposal,
    Status,
    Step,
    Verdict,
    Workload,
)
from optimizer.search import search
from optimizer.tools import Tools, no_boundary


class Endless:
    """Proposes thirty edits of anything, each a little faster or slower, for ever."""

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        at = step.kernel.source
        return [
            Proposal(Edit(f"e{n}", f"{at} {n}", "rule:x", kind=f"kind-{n % 9}"), 0.1 + n / 40)
            for n in range(30)
        ]


class Instant:
    """Gives every candidate a speedup that depends on its text alone."""

    def evaluate(
        self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        return [self.verdict(kernel.source) for kernel in kernels]

    def verdict(self, source: str) -> Verdict:
        ratio = 1.0 + sum(math.sin(int(n) + i) for i, n in enumerate(source.split())) / 50
        times = CaseTimes("n=1", (100.0 / max(ratio, 0.1),) * 4, (100.0,) * 4)
        return Verdict(Status.CORRECT, Measurement((times,), "a GPU"))


def test_overhead_is_small_and_flat_up_to_two_thousand_nodes() -> None:
    marks: dict[int, float] = {}
    began = time.perf_counter()

    def on_step(step: Step) -> None:
        marks[step.number] = time.perf_counter() - began

    search(
        Kernel("k", ""),
        landscape.workload(),
        Tools(Endless(), Instant(), boundary=no_boundary),
        Budget(2000),
        on_step,
        settings=SearchSettings(seed=1),
    )
    early = (marks[500] - marks[100]) / 400
    late = (marks[1990] - marks[1590]) / 400
    assert late < 0.020
    assert late < 6 * early + 0.001
