"""The search, on made-up kernels whose best is known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from optimizer import landscape
from optimizer.budget import Budget, SearchSettings, Stopped, Strategy
from optimizer.errors import BaselineError
from optimizer.landscape import LandscapeEvaluator
from optimizer.model import (
    Edit,
    Effort,
    Finding,
    Kernel,
    Proposal,
    Status,
    Step,
    Verdict,
)
from optimizer.search import search
from optimizer.tools import Event, Stage
from tests.optimizer.search_worlds import SCENE, Scripted, run, scripted, tools, tree


def test_it_stacks_edits_and_confirms_the_best() -> None:
    world = Scripted({"a": 1.5, "b": 1.2, "ab": 2.0, "abc": 3.0})
    found = scripted(world)
    assert found.best.kernel.source == "abc"
    assert [step.kernel.source for step in found.path(found.best.number)] == ["", "a", "ab", "abc"]
    assert found.confirmation is not None
    assert ("abc", Effort.CONFIRM) in world.asked
    assert found.stopped == Stopped.EXHAUSTED.value
    assert found.aa is not None


GOLDEN: list[tuple[int | None, str, str]] = [
    (None, "", "correct"),
    (0, "m15", "does not compile"),
    (0, "m0", "correct"),
    (0, "m2", "correct"),
    (0, "m14", "correct"),
    (2, "m14", "correct"),
    (2, "m11", "correct"),
    (2, "m13", "correct"),
    (2, "m5", "does not compile"),
    (5, "m3", "correct"),
    (5, "m13", "correct"),
    (5, "m5", "does not compile"),
    (5, "m11", "correct"),
    (12, "c0=2", "correct"),
]


def test_the_golden_tree() -> None:
    """Seed 1 on landscape 3 gives this tree; a change of the search changes it knowingly."""
    assert tree(run(evaluations=14)) == GOLDEN


def test_the_same_seed_gives_the_same_tree_and_another_seed_another() -> None:
    first, again = run(), run()
    assert first == again
    others = [tree(run(settings=SearchSettings(seed=seed))) for seed in range(2, 6)]
    assert any(other != tree(first) for other in others)


def test_it_goes_on_from_a_trajectory_as_if_it_had_never_stopped() -> None:
    whole = run(evaluations=40)
    for cut in (1, 9, 25):
        part = replace(whole, steps=whole.steps[:cut], winner=None, confirmation=None)
        heard: list[Step] = []
        resumed = search(
            landscape.kernel(),
            landscape.workload(),
            tools(),
            Budget(40),
            on_step=heard.append,
            settings=SearchSettings(seed=1),
            resume=part,
        )
        assert len(resumed.steps) == len(whole.steps)
        assert resumed.steps[:cut] == whole.steps[:cut]
        assert [step.number for step in heard] == list(range(cut, len(whole.steps)))


def test_a_resumed_search_continues_as_the_uninterrupted_one() -> None:
    """At a batch's end nothing but the trajectory decides what comes next."""
    whole = run(evaluations=41, settings=SearchSettings(seed=1, tune_share=0.0))
    part = replace(whole, steps=whole.steps[:21])
    resumed = search(
        landscape.kernel(),
        landscape.workload(),
        tools(),
        Budget(41),
        settings=SearchSettings(seed=1, tune_share=0.0),
        resume=part,
    )
    assert tree(resumed) == tree(whole)


def test_a_baseline_that_fails_ends_it_at_once() -> None:
    with pytest.raises(BaselineError, match="wrong result"):
        scripted(Scripted({"": math.nan}))


def test_equal_machine_code_is_one_node() -> None:
    world = Scripted({"a": 1.5, "b": 1.5, "ax": 2.0, "bx": 2.5})
    world.code = {"b": "a"}
    found = scripted(world)
    twin = next(step for step in found.steps if step.same_as is not None)
    assert not any(step.parent == twin.number for step in found.steps)
    again = scripted(world, settings=SearchSettings(transpositions=False))
    assert {step.kernel.source for step in again.steps} >= {"ax", "bx"}


def test_a_failed_candidate_is_not_built_upon() -> None:
    found = scripted(Scripted({"a": math.nan, "ab": 9.0}))
    assert [step.kernel.source for step in found.steps] == ["", "a"]


def test_what_is_outside_the_boundary_never_meets_the_gpu_and_costs_nothing() -> None:
    def fence(original: str, candidate: str, *, allow_host: bool) -> Sequence[str]:
        return ("no x",) if "x" in candidate else ()

    world = Scripted({"x": 9.0, "a": 1.5, "ax": 9.0})
    found = scripted(world, evaluations=3, boundary=fence)
    assert {s for s, e in world.asked if e is Effort.SCREEN} == {"a"}
    refused = [step for step in found.steps if step.verdict.status is Status.REJECTED]
    assert refused
    assert refused[0].verdict.log == "no x"
    assert found.best.kernel.source == "a"


def test_a_blocking_finding_spares_the_gpu() -> None:
    def detector(kernel: Kernel, verdict: Verdict | None) -> list[Finding]:
        bad = verdict is None and "x" in kernel.source
        return [Finding("trap", "it hangs", blocking=True)] if bad else []

    world = Scripted({"x": 9.0, "a": 1.5})
    found = scripted(world, detectors=[detector])
    assert "x" not in {source for source, _ in world.asked}
    assert "trap: it hangs" in {step.verdict.log for step in found.steps}


def test_a_detector_and_a_tuner_that_raise_are_named_and_the_search_goes_on() -> None:
    def broken(*_: object) -> list[Finding]:
        raise ZeroDivisionError("oh")

    found = scripted(Scripted({"a": 1.5}), detectors=[broken], tune=broken)
    assert found.best.kernel.source == "a"
    assert any("broken failed: ZeroDivisionError: oh" in note for note in found.notes)
    assert any("tuning failed" in note for note in found.notes)


def test_findings_are_kept_in_the_steps_that_were_built_upon_and_in_the_winner() -> None:
    def detector(kernel: Kernel, verdict: Verdict | None) -> list[Finding]:
        return [Finding("seen", kernel.source)]

    found = scripted(Scripted({"a": 1.5}), evaluations=2, detectors=[detector])
    assert found.baseline.findings[0].message == ""
    assert found.best.findings[0].message == "a"


def test_what_is_not_recorded_is_no_failure_and_costs_nothing() -> None:
    class Gaps(Scripted):
        def verdict(self, source: str, effort: Effort) -> Verdict:
            if source.startswith("x"):
                return Verdict(Status.NOT_RECORDED)
            return super().verdict(source, effort)

    world = Gaps({"x": 9.0, "a": 1.5, "b": 1.1})
    found = scripted(world, evaluations=3)
    assert {step.kernel.source for step in found.steps} == {"", "x", "a", "b"}
    assert found.best.kernel.source == "a"


def test_watchers_hear_of_each_stage_and_step() -> None:
    stages: list[Stage] = []
    steps: list[int] = []

    def on_event(event: Event) -> None:
        stages.append(event.stage)

    search(
        landscape.kernel(),
        landscape.workload(),
        tools(),
        Budget(40),
        lambda step: steps.append(step.number),
        on_event=on_event,
    )
    assert steps == list(range(len(steps)))
    seen = [stage for stage in dict.fromkeys(stages) if stage is not Stage.SHORTENING]
    order = [Stage.BASELINE, Stage.SEARCHING, Stage.TUNING, Stage.RACING, Stage.CONFIRMING]
    assert seen == order


@pytest.mark.parametrize("strategy", list(Strategy))
def test_every_strategy_ends_with_a_true_figure(strategy: Strategy) -> None:
    evaluator = LandscapeEvaluator(SCENE, 1)
    found = run(tools(evaluator=evaluator), 60, SearchSettings(strategy=strategy, seed=1))
    assert evaluator.true_speedup(found.best.kernel) > 1.3
    assert found.environment.strategy == strategy.value


def test_mcts_beats_random_and_keeps_up_with_greedy_on_landscapes() -> None:
    """A cheap guard; benchmarks/strategies.py measures it properly."""

    def mean(strategy: Strategy) -> float:
        total = 0.0
        for seed in range(30):
            scene = landscape.generate(700 + seed, 30, seed % 2 * 4)
            evaluator = LandscapeEvaluator(scene, seed)
            found = run(
                tools(scene, evaluator=evaluator), 60, SearchSettings(strategy=strategy, seed=seed)
            )
            total += math.log(evaluator.true_speedup(found.best.kernel))
        return total / 30

    best = mean(Strategy.MCTS)
    assert best > mean(Strategy.RANDOM)
    assert best > mean(Strategy.GREEDY) - 0.01


class Late(Scripted):
    """A scripted world whose edit `z` comes later, for the original, when others lead the tree."""

    def __init__(self, ratios: dict[str, float], turn: int) -> None:
        super().__init__(ratios)
        self.turn, self.turns = turn, 0

    def observe(self, step: Step) -> None:
        pass

    def arrived(self, wait: float) -> Sequence[tuple[int, Sequence[Proposal]]]:
        self.turns += 1
        if self.turns != self.turn:
            return ()
        return [(0, [Proposal(Edit("z", "z", "llm:m", kind="late"), 0.01)])]

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        return [p for p in super().propose(step, findings, limit) if p.edit.source != "z"]


def test_what_arrives_late_is_tried_next_wherever_the_search_has_gone() -> None:
    letters = "abcdefgh"
    chain = {letters[:n]: 1.0 + 0.2 * n for n in range(1, 9)}
    world = Late({**chain, **{f"{a}{b}": 1.0 for a in letters for b in "pqrst"}, "z": 9.0}, 3)
    found = scripted(world, 20)
    number = next(s.number for s in found.steps if s.kernel.source == "z")
    assert number <= 10
    assert found.best.kernel.source == "z"
