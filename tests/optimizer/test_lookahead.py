"""More machines change the time a search takes and never the tree."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from optimizer import landscape
from optimizer.budget import Budget, SearchSettings, Strategy
from optimizer.landscape import LandscapeEvaluator, LandscapePolicy
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

SCENE = landscape.generate(3, 20, 3)


class Foreseeing(LandscapePolicy):
    """Tells ahead what it will propose."""

    def foresee(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        return self.propose(step, findings, limit)


class Later(Sequence[Verdict]):
    """Verdicts that come in when they are looked at, or by chance before."""

    def __init__(self, verdicts: Sequence[Verdict], machines: Machines) -> None:
        self._verdicts, self._machines = verdicts, machines
        self._waiting = set(range(len(verdicts)))
        machines.begin(len(verdicts))

    def __len__(self) -> int:
        return len(self._verdicts)

    def __getitem__(self, index: Any) -> Any:
        self._in(index)
        return self._verdicts[index]

    def ready(self, index: int) -> bool:
        if index in self._waiting and self._machines.chance.random() < 0.5:
            self._in(index)
        return index not in self._waiting

    def prefer(self, index: int, urgent: bool) -> None:
        assert 0 <= index < len(self)
        self._machines.hurried += urgent
        self._machines.ahead += not urgent

    def _in(self, index: int) -> None:
        if index in self._waiting:
            self._waiting.remove(index)
            self._machines.busy -= 1


class Machines:
    """Evaluates a landscape, and counts how much of it at once."""

    def __init__(self, seed: int = 0) -> None:
        self._inner = LandscapeEvaluator(SCENE, 1)
        self.chance = random.Random(seed)  # noqa: S311 - a simulation, not a secret
        self.busy = self.most = self.sent = self.ahead = self.hurried = 0
        self.begun: list[str] = []

    def evaluate(
        self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        found = self._inner.evaluate(kernels, workload, effort)
        return Later(found, self) if effort is Effort.SCREEN else found

    def expect(self, kernels: Sequence[Kernel], workload: Workload) -> bool:
        self.begun += [kernel.digest for kernel in kernels]
        return True

    def begin(self, count: int) -> None:
        self.sent += count
        self.busy += count
        self.most = max(self.most, self.busy)


def run(
    machines: Machines | None = None,
    *,
    width: int = 1,
    policy: LandscapePolicy | None = None,
    settings: SearchSettings | None = None,
) -> Trajectory:
    tools = Tools(
        policy or Foreseeing(SCENE),
        machines or LandscapeEvaluator(SCENE, 1),
        tune=lambda kernel, _: landscape.tuner(SCENE, kernel),
        boundary=no_boundary,
        clock=lambda: 0.0,
        width=width,
    )
    made = settings or SearchSettings(seed=1)
    return search(landscape.kernel(), landscape.workload(), tools, Budget(60), settings=made)


@pytest.mark.parametrize("strategy", list(Strategy))
@pytest.mark.parametrize(("batch", "window"), [(4, 0), (16, 0), (4, 8)])
def test_the_tree_is_the_same_at_any_width(strategy: Strategy, batch: int, window: int) -> None:
    settings = SearchSettings(seed=1, strategy=strategy, batch=batch, window=window)
    narrow = run(settings=settings)
    for width in (1, 2, 4, 8, 32):
        for policy in (Foreseeing(SCENE), LandscapePolicy(SCENE)):
            found = run(Machines(width), width=width, policy=policy, settings=settings)
            assert found == narrow


@pytest.mark.parametrize("width", [8, 16])
def test_machines_that_would_be_idle_are_asked_ahead_and_never_more_than_there_are(
    width: int,
) -> None:
    machines = Machines()
    run(machines, width=width)
    assert machines.most > 4
    # A batch is always sent whole, whatever still runs that nobody chose.
    assert machines.most <= width + 4
    assert machines.ahead > 0


def test_one_machine_is_asked_nothing_ahead() -> None:
    machines = Machines()
    run(machines)
    assert machines.most == 4
    assert machines.ahead == 0


def test_most_of_what_was_asked_ahead_is_used_and_hurried_then() -> None:
    machines = Machines()
    found = run(machines, width=8)
    assert machines.hurried > 0.5 * machines.ahead
    assert machines.sent < 2 * len(found.steps)


def test_what_follows_a_window_is_compiled_ahead_and_never_judged_ahead() -> None:
    machines = Machines()
    found = run(machines, width=8, settings=SearchSettings(seed=1, window=8))
    tried = {step.kernel.digest for step in found.steps}
    # What was begun before there was a tree may be begun again.
    assert len(machines.begun) <= len(set(machines.begun)) + 12
    assert len(tried & set(machines.begun)) > len(tried) / 2
    assert len(machines.begun) < 2 * len(tried)
    assert machines.sent == len(tried) - 1
    assert machines.ahead == 0


def test_nothing_is_compiled_ahead_of_a_window_on_one_machine() -> None:
    machines = Machines()
    run(machines, settings=SearchSettings(seed=1, window=8))
    assert len(machines.begun) <= 1 + 12  # the unedited kernel, and what is likely first


def test_machines_may_join_while_the_search_goes_on() -> None:
    machines, widths = Machines(), iter(range(1000))
    tools = Tools(
        Foreseeing(SCENE),
        machines,
        tune=lambda kernel, _: landscape.tuner(SCENE, kernel),
        boundary=no_boundary,
        clock=lambda: 0.0,
        width=lambda: min(12, 1 + next(widths) // 4),
    )
    settings = SearchSettings(seed=1)
    found = search(landscape.kernel(), landscape.workload(), tools, Budget(60), settings=settings)
    assert found == replace(run(), environment=found.environment)
    assert machines.most > 6


def test_a_window_is_kept_full_and_its_verdicts_are_taken_in_order() -> None:
    machines = Machines()
    settings = SearchSettings(seed=1, window=8)
    found = run(machines, settings=settings)
    assert machines.most == 8
    # What a candidate was chosen by are the verdicts of all but the seven before it.
    assert all(step.parent is None or step.parent <= step.number - 1 for step in found.steps)
    for step in found.steps[9:50]:
        assert step.parent is not None
        assert step.parent <= step.number - 8 or step.parent == 0
    assert len(found.steps) >= 56
