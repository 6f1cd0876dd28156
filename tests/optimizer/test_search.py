"""The search, on made-up kernels whose best is known."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import pytest

from optimizer import landscape
from optimizer.budget import Budget, SearchSettings, Stopped, Strategy
from optimizer.dialogue import Usage
from optimizer.errors import BaselineError, RunnerError
from optimizer.landscape import LandscapeEvaluator, LandscapePolicy
from optimizer.model import (
    CaseTimes,
    Edit,
    Effort,
    Finding,
    Kernel,
    Kind,
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
from optimizer.significance import speedup
from optimizer.tools import Event, Stage, Tools, no_boundary

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


def test_a_doubtful_aa_is_repeated_then_noted_and_held_against_the_winner() -> None:
    world = Scripted({"": 1.10, "a": 1.12, "b": 1.5}, confirm={"": 1.10})
    found = scripted(world)
    assert [e for s, e in world.asked if not s] == [Effort.RACE, Effort.CONFIRM]
    assert any("A/A comparison differs" in note for note in found.notes)
    assert found.best.kernel.source == "b"
    only = Scripted({"": 1.10, "a": 1.12}, confirm={"": 1.10})
    assert scripted(only).winner is None


def test_the_next_best_is_offered_when_the_best_does_not_hold() -> None:
    world = Scripted({"a": 3.0, "b": 2.0, "c": 1.5}, confirm={"a": math.nan, "b": 1.0})
    found = scripted(world)
    assert found.best.kernel.source == "c"
    assert any("wrong result" in note for note in found.notes)
    assert any("was not confirmed: same" in note for note in found.notes)


def test_only_what_screening_cannot_tell_from_the_best_is_raced() -> None:
    world = Scripted({"a": 3.0, "b": 2.95, "c": 1.5})
    found = scripted(world)
    raced = [source for source, effort in world.asked if effort is Effort.RACE and source]
    assert raced == ["a", "b"]
    assert found.best.kernel.source == "a"
    alone = Scripted({"a": 3.0, "b": 1.5})
    scripted(alone)
    assert [s for s, effort in alone.asked if effort is Effort.RACE and s] == []


class Lines:
    """Edits that each change one line; `pays` says what a line brings, in any company."""

    def __init__(self, pays: dict[str, float], needs: dict[str, str] | None = None) -> None:
        self.pays, self.needs = pays, needs or {}
        self.start = "".join(f"old {name}\n" for name in pays)

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        made = [name for name in self.pays if f"new {name}\n" in step.kernel.source]
        names = [name for name in self.pays if name not in made]
        # one line of edits, in order, so that the idle ones lie on the way to the best
        return [
            Proposal(Edit(n, step.kernel.source.replace(f"old {n}", f"new {n}"), "rule:x", kind=n))
            for n in names[:1]
        ]

    def evaluate(
        self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        return [self.verdict(kernel.source) for kernel in kernels]

    def verdict(self, source: str) -> Verdict:
        made = [name for name in self.pays if f"new {name}\n" in source]
        if any(self.needs.get(name, name) not in made for name in made):
            return Verdict(Status.WRONG_RESULT)
        ratio = math.prod(self.pays[name] for name in made)
        times = CaseTimes("n=1", (100.0 / ratio,) * 12, (100.0,) * 12)
        return Verdict(Status.CORRECT, Measurement((times,), "a GPU"), machine_code=source)

    def search(self, evaluations: int = 40, **changes: object) -> Trajectory:
        settings = replace(SearchSettings(tune=False), **changes)  # type: ignore[arg-type]
        given = Tools(self, self, boundary=no_boundary, clock=lambda: 0.0)
        kernel, workload = Kernel("k", self.start), landscape.workload()
        return search(kernel, workload, given, Budget(evaluations), settings=settings)


def kept(found: Trajectory) -> list[str]:
    return [step.edit.title for step in found.path(found.best.number) if step.edit]


def test_a_winner_is_offered_without_the_edits_that_brought_nothing() -> None:
    lines = Lines({"a": 1.0, "b": 1.5, "c": 1.001, "d": 1.2})
    found = lines.search()
    assert kept(found) == ["b", "d"]
    assert found.best.kernel.source == "old a\nnew b\nold c\nnew d\n"
    assert kept(lines.search(shorten=False)) == ["a", "b", "c", "d"]


def test_each_edit_of_the_shorter_winner_was_measured_in_its_new_place() -> None:
    found = Lines({"a": 1.0, "b": 1.5, "d": 1.2}).search()
    path = found.path(found.best.number)
    gains = [speedup(step.verdict.measurement) for step in path]
    assert gains == pytest.approx([1.0, 1.5, 1.8])


def test_an_idle_edit_that_others_rest_on_stays() -> None:
    found = Lines({"a": 1.0, "b": 1.5, "c": 1.0}, needs={"b": "a"}).search()
    assert kept(found) == ["a", "b"]


def test_shortening_stays_within_the_evaluations() -> None:
    found = Lines({"a": 1.0, "b": 1.5, "c": 1.0, "d": 1.2}).search(evaluations=5)
    assert kept(found) == ["a", "b", "c", "d"]
    assert len(found.steps) == 5


def test_a_program_is_compared_with_itself_before_its_winner_is_confirmed() -> None:
    """Not first: on a slow program the comparison takes longer than the first candidates."""
    workload = replace(landscape.workload(), kind=Kind.PROGRAM)

    def asked(world: Scripted) -> list[tuple[str, Effort]]:
        given = Tools(world, world, boundary=no_boundary, clock=lambda: 0.0)
        found = search(Kernel("k", ""), workload, given, Budget(30))
        assert found.aa is not None
        return [pair for pair in world.asked if not pair[0] or pair[1] is Effort.CONFIRM]

    better = asked(Scripted({"a": 1.5}))
    assert better == [("", Effort.SCREEN), ("", Effort.RACE), ("a", Effort.CONFIRM)]
    assert asked(Scripted({"a": 0.9})) == [("", Effort.SCREEN)]
    drifting = Scripted({"": 1.10, "a": 1.12}, confirm={"": 1.10})
    assert asked(drifting)[1:3] == [("", Effort.RACE), ("", Effort.CONFIRM)]


def test_a_program_that_fails_in_the_end_costs_the_winner_and_not_the_trajectory() -> None:
    class Tired(Scripted):
        def verdict(self, source: str, effort: Effort) -> Verdict:
            tired = not source and effort is Effort.RACE
            return Verdict(Status.CRASHED) if tired else super().verdict(source, effort)

    world = Tired({"a": 1.5})
    given = Tools(world, world, boundary=no_boundary, clock=lambda: 0.0)
    workload = replace(landscape.workload(), kind=Kind.PROGRAM)
    found = search(Kernel("k", ""), workload, given, Budget(30))
    assert (len(found.steps), found.winner) == (2, None)
    assert any("not confirmed: k: the unedited kernel: crashed" in note for note in found.notes)


def test_what_cannot_be_raced_in_time_is_confirmed_as_it_screened() -> None:
    world = Scripted({"a": 3.0, "b": 2.95})
    world.seconds = {"verify": 1.0, "time": 4.0, "oracle": 5.0}

    def raced(minutes: float) -> list[str]:
        world.asked.clear()
        given = Tools(world, world, boundary=no_boundary, clock=lambda: 0.0)
        budget = Budget(30, minutes)
        found = search(Kernel("k", ""), landscape.workload(), given, budget)
        assert found.best.kernel.source == "a"
        return [source for source, effort in world.asked if effort is Effort.RACE and source]

    assert raced(1.0) == ["a", "b"]
    assert raced(0.8) == []


def test_nothing_is_offered_below_the_least_speedup() -> None:
    found = scripted(Scripted({"a": 1.02, "b": 0.7}))
    assert found.winner is None
    assert found.best.number == 0
    assert found.confirmation is None


def test_registers_over_the_limit_are_not_offered() -> None:
    world = Scripted({"a": 3.0, "b": 2.0})
    world.registers = {"a": 300}
    assert scripted(world).best.kernel.source == "b"


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


def test_counters_are_read_of_the_baseline_of_what_is_much_faster_and_of_the_winner() -> None:
    world = Scripted({"a": 1.5, "ab": 1.55, "abc": 3.0, "abcd": 3.1})
    found = scripted(world, profile=True)
    profiled = [source for source, effort in world.asked if effort is Effort.PROFILE]
    assert profiled == ["", "a", "abc", "abcd"]  # the winner last, to explain it
    assert found.baseline.verdict.counters == world.profile_counters


@pytest.mark.parametrize(("late", "explained"), [(1.1, True), (1.3, False)])
def test_a_winner_found_just_in_time_is_explained_all_the_same(
    late: float, explained: bool
) -> None:
    """Not when the minutes were over long ago."""
    world = Scripted({"a": 1.2})

    def clock() -> float:
        over = any(effort is Effort.CONFIRM for _, effort in world.asked)
        return 60.0 * late if over else 0.0

    given = Tools(world, world, boundary=no_boundary, clock=clock, profile=True)
    search(Kernel("k", ""), landscape.workload(), given, Budget(30, minutes=1.0))
    assert (("a", Effort.PROFILE) in world.asked) is explained


class Foreseen(Scripted):
    """Weighs proposals by what was found: with counters the least is the best.

    `seen` are proposed with counters alone.
    """

    seen = ""

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        assert step.number or step.verdict.counters, "what is said for good waits for them"
        return self.foresee(step, findings, limit)

    def foresee(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        counted = bool(step.verdict.counters)
        found = super().propose(step, findings, limit)
        return [
            replace(one, prior=0.9 if counted == (one.edit.title == "z") else 0.1)
            for one in found
            if counted or one.edit.title not in self.seen
        ]


@pytest.mark.parametrize("kind", [Kind.KERNEL, Kind.PROGRAM])
def test_counters_are_read_after_the_first_batch_and_weigh_what_waits(kind: Kind) -> None:
    """The first candidates do not wait for ncu; those after them are chosen with its counters."""
    world = Foreseen(dict.fromkeys("abcdefz", 1.01))
    given = Tools(world, world, boundary=no_boundary, clock=lambda: 0.0, profile=True)
    workload = replace(landscape.workload(), kind=kind)
    found = search(Kernel("k", ""), workload, given, Budget(30))
    efforts = [effort for _, effort in world.asked]
    assert efforts.index(Effort.PROFILE) == 1 + SearchSettings().batch
    assert [source for source, effort in world.asked if effort is Effort.PROFILE] == [""]
    tried = [step.kernel.source for step in found.steps if step.parent == 0]
    assert tried.index("z") == SearchSettings().batch
    assert sorted(tried) == [*"abcdefz"]
    assert found.baseline.verdict.counters == world.profile_counters


def test_what_only_counters_show_is_tried_though_all_else_was_in_the_first_batch() -> None:
    world = Foreseen(dict.fromkeys("abz", 1.01))
    world.seen = "z"
    given = Tools(world, world, boundary=no_boundary, clock=lambda: 0.0, profile=True)
    found = search(Kernel("k", ""), landscape.workload(), given, Budget(30))
    tried = [step.kernel.source for step in found.steps if step.parent == 0]
    assert sorted(tried) == [*"abz"]


def test_denied_counters_are_said_once_and_not_asked_for_again() -> None:
    world = Scripted({"a": 1.5, "ab": 2.5})
    world.profile_counters = {}
    found = scripted(world, profile=True)
    assert sum(effort is Effort.PROFILE for _, effort in world.asked) == 1
    assert sum("no counters" in note for note in found.notes) == 1


def test_findings_are_kept_in_the_steps_that_were_built_upon_and_in_the_winner() -> None:
    def detector(kernel: Kernel, verdict: Verdict | None) -> list[Finding]:
        return [Finding("seen", kernel.source)]

    found = scripted(Scripted({"a": 1.5}), evaluations=2, detectors=[detector])
    assert found.baseline.findings[0].message == ""
    assert found.best.findings[0].message == "a"


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


def test_constants_are_tuned_on_the_best_structure_at_the_end() -> None:
    def tune(kernel: Kernel, _: Sequence[Finding]) -> list[Edit]:
        return [
            Edit(f"block {n}", f"{kernel.source}{n}", "rule:tune", kind="tune")
            for n in range(3)
            if not kernel.source[-1:].isdigit()
        ]

    class Tunable(Scripted):
        def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> list[Proposal]:
            found = super().propose(step, findings, limit)
            return [proposal for proposal in found if proposal.edit.source.isalpha()]

    world = Tunable({"a": 2.0, "b": 1.1, **{f"a{n}": 2.0 + n / 10 for n in range(3)}})
    assert scripted(world, tune=tune).best.kernel.source == "a2"
    assert scripted(world, tune=tune, settings=SearchSettings(tune=False)).best.number == 1


@pytest.mark.parametrize("seed", range(5))
def test_constants_are_tried_from_the_most_to_the_least_likely(seed: int) -> None:
    """A tuner knows their order: shapes of blocks, which gain most, come before unroll factors."""

    def tune(kernel: Kernel, _: Sequence[Finding]) -> list[Edit]:
        names = "pqrstuvw" if not kernel.source else ""
        return [Edit(name, name, "rule:tune", kind="tune") for name in names]

    world = Scripted({})
    scripted(world, tune=tune, settings=SearchSettings(seed=seed))
    tried = [source for source, effort in world.asked if source and effort is Effort.SCREEN]
    assert sorted(tried) == [*"pqrstuvw"]
    assert set(tried[:4]) >= {"p", "q"}
    assert set(tried[4:]) >= {"v", "w"}


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
