"""Made-up kernels whose best is known, and searches over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from optimizer import landscape
from optimizer.budget import Budget, SearchSettings
from optimizer.landscape import LandscapeEvaluator, LandscapePolicy
from optimizer.model import (
    CaseTimes,
    Edit,
    Effort,
    Finding,
    Kernel,
    Measurement,
    Proposal,
    Resources,
    Status,
    Step,
    Trajectory,
    Verdict,
    Workload,
)
from optimizer.search import search
from optimizer.tools import Tools, no_boundary

SCENE = landscape.generate(3, 20, 3)


def tools(scene: landscape.Landscape = SCENE, **changes: object) -> Tools:
    made = Tools(
        LandscapePolicy(scene),
        LandscapeEvaluator(scene, 1),
        tune=lambda kernel, _: landscape.tuner(scene, kernel),
        boundary=no_boundary,
        clock=lambda: 0.0,
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def run(
    given: Tools | None = None, evaluations: int = 40, settings: SearchSettings | None = None
) -> Trajectory:
    return search(
        landscape.kernel(),
        landscape.workload(),
        given or tools(),
        Budget(evaluations),
        settings=settings or SearchSettings(seed=1),
    )


def tree(trajectory: Trajectory) -> list[tuple[int | None, str, str]]:
    return [
        (step.parent, step.edit.title if step.edit else "", step.verdict.status.value)
        for step in trajectory.steps
    ]


class Scripted:
    """Proposes and times a fixed tree: titles by source, ratios by source. Sources are letters."""

    def __init__(self, ratios: dict[str, float], confirm: dict[str, float] | None = None) -> None:
        self.ratios, self.confirm = ratios, confirm or {}
        self.asked: list[tuple[str, Effort]] = []
        self.profile_counters = {"k/dram__bytes.sum": 1.0}
        self.code: dict[str, str] = {}
        self.registers: dict[str, int] = {}
        self.seconds: dict[str, float] = {}

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        at = step.kernel.source
        return [
            Proposal(Edit(s, s, "rule:x", kind=f"kind-{s}"), 0.5)
            for s in self.ratios
            if len(s) == len(at) + 1 and s.startswith(at)
        ]

    def evaluate(
        self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        self.asked += [(kernel.source, effort) for kernel in kernels]
        return [self.verdict(kernel.source, effort) for kernel in kernels]

    def verdict(self, source: str, effort: Effort) -> Verdict:
        known = self.confirm if effort is Effort.CONFIRM else {}
        ratio = known.get(source, self.ratios.get(source, 1.0))
        if math.isnan(ratio):
            return Verdict(Status.WRONG_RESULT)
        times = CaseTimes("n=1", (100.0 / ratio,) * 12, (100.0,) * 12)
        counters = self.profile_counters if effort is Effort.PROFILE else {}
        return Verdict(
            Status.CORRECT,
            Measurement((times,), "a GPU"),
            counters=counters,
            seconds=self.seconds,
            machine_code=self.code.get(source, source or "root"),
            resources={"k": Resources(self.registers.get(source, 32))},
        )


def scripted(
    world: Scripted,
    evaluations: int = 30,
    settings: SearchSettings | None = None,
    **changes: object,
) -> Trajectory:
    given = Tools(world, world, boundary=no_boundary, clock=lambda: 0.0)
    given = replace(given, **changes)  # type: ignore[arg-type]
    return search(
        Kernel("k", ""),
        landscape.workload(),
        given,
        Budget(evaluations),
        settings=settings or SearchSettings(),
    )
