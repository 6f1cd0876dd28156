"""What ends a search: its budget, Ctrl-C, a runner that fails; and what is left then."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from optimizer import landscape
from optimizer.budget import Budget, Stopped
from optimizer.dialogue import Usage
from optimizer.errors import RunnerError
from optimizer.landscape import LandscapeEvaluator
from optimizer.model import (
    Effort,
    Finding,
    Kernel,
    Proposal,
    Step,
    Trajectory,
    Verdict,
    Workload,
)
from optimizer.search import search
from optimizer.tools import Tools, no_boundary
from tests.optimizer.search_worlds import SCENE, Scripted, run, scripted, tools


@pytest.mark.parametrize("evaluations", [1, 2, 7, 30])
def test_no_more_candidates_are_evaluated_than_allowed(evaluations: int) -> None:
    evaluator = LandscapeEvaluator(SCENE, 1)
    found = run(tools(evaluator=evaluator), evaluations)
    screened = sum(count for count, effort in evaluator.calls if effort is Effort.SCREEN)
    assert screened <= evaluations - 1
    assert found.stopped == Stopped.EVALUATIONS.value


def test_minutes_end_it_with_time_left_to_confirm() -> None:
    now = [0.0]

    class Slow(Scripted):
        def evaluate(
            self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
        ) -> Sequence[Verdict]:
            now[0] += 5.0
            return super().evaluate(kernels, workload, effort)

    world = Slow({"a" * n: 1.0 + 0.2 * n for n in range(1, 40)})
    given = Tools(world, world, boundary=no_boundary, clock=lambda: now[0])
    found = search(Kernel("k", ""), landscape.workload(), given, Budget(500, minutes=1.0))
    assert found.stopped == Stopped.MINUTES.value
    assert found.winner is not None
    assert now[0] <= 75.0


def test_money_ends_it() -> None:
    spent = [0.0]

    class Costly(Scripted):
        def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> list[Proposal]:
            spent[0] += 0.4
            return list(super().propose(step, findings, limit))

    world = Costly({"a" * n: 1.0 + 0.1 * n for n in range(1, 40)})
    given = Tools(world, world, boundary=no_boundary, used=lambda: Usage(usd=spent[0]))
    found = search(Kernel("k", ""), landscape.workload(), given, Budget(500, usd=1.0))
    assert found.stopped == Stopped.MONEY.value
    assert sum(step.usd for step in found.steps) == pytest.approx(spent[0])


def test_a_spent_headroom_ends_it() -> None:
    def headroom(verdict: Verdict) -> float | None:
        times = verdict.measurement.cases[0] if verdict.measurement else None
        return None if times is None else 2.0 * times.candidate_us[0] / times.baseline_us[0]

    world = Scripted({"a": 1.99, "ab": 1.99})
    found = scripted(world, headroom=headroom)
    assert found.stopped == Stopped.HEADROOM.value
    assert len(found.steps) == 2
    assert found.best.kernel.source == "a"


class Breaks(Scripted):
    """Raises at the n-th batch of screening, and where told."""

    error: BaseException = KeyboardInterrupt()
    at: int = 3
    also: Effort | None = None

    def evaluate(
        self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        self.at -= effort is Effort.SCREEN
        if (effort is Effort.SCREEN and self.at == 0) or effort is self.also:
            raise self.error
        return super().evaluate(kernels, workload, effort)


def breaking(error: BaseException, also: Effort | None = None) -> tuple[Breaks, Trajectory]:
    world = Breaks({"a" * n: 1.0 + 0.2 * n for n in range(1, 40)})
    world.error, world.also = error, also
    return world, scripted(world)


def test_ctrl_c_leaves_the_best_so_far_confirmed() -> None:
    world, found = breaking(KeyboardInterrupt())
    assert found.stopped == Stopped.INTERRUPTED.value
    assert found.best.kernel.source == "aa"
    assert Effort.RACE not in [effort for source, effort in world.asked if source]


def test_a_second_ctrl_c_leaves_a_valid_result_without_a_winner() -> None:
    _, found = breaking(KeyboardInterrupt(), also=Effort.CONFIRM)
    assert found.winner is None
    assert len(found.steps) == 3
    assert "interrupted" in found.notes[-1]


def test_a_runner_that_fails_midway_loses_no_step() -> None:
    _, found = breaking(RunnerError("the GPU fell off the bus"), also=Effort.CONFIRM)
    assert found.stopped == Stopped.RUNNER.value
    assert len(found.steps) == 3
    assert any("fell off the bus" in note for note in found.notes)
