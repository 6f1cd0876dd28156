"""When a search reads hardware counters, and what it does with them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from optimizer import landscape
from optimizer.budget import Budget, SearchSettings
from optimizer.model import (
    Edit,
    Effort,
    Finding,
    Kernel,
    Kind,
    Proposal,
    Step,
    Trajectory,
    Verdict,
    Workload,
)
from optimizer.search import search
from optimizer.tools import Tools, no_boundary
from tests.optimizer.search_worlds import Scripted, scripted


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


class Begins(Foreseen):
    """As behind a GPU: can begin what it will be asked, and is told what there is time for."""

    def __init__(self, ratios: dict[str, float]) -> None:
        super().__init__(ratios)
        self.together: list[list[str]] = []

    def evaluate(
        self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        if effort is Effort.PROFILE:
            self.together.append([kernel.source for kernel in kernels])
        return super().evaluate(kernels, workload, effort)

    def expect(self, kernels: Sequence[Kernel], workload: Workload) -> bool:
        return True


class Cannot(Begins):
    def expect(self, kernels: Sequence[Kernel], workload: Workload) -> bool:
        return False


RATIOS = {**dict.fromkeys("abcdefz", 1.01), "b": 1.5, "ba": 1.55, "bz": 1.1, "bab": 3.0}


def counted(world: Begins) -> Trajectory:
    given = Tools(world, world, boundary=no_boundary, clock=lambda: 0.0, profile=True)
    return search(Kernel("k", ""), landscape.workload(), given, Budget(30))


def test_counters_of_the_best_of_the_first_batch_are_read_with_those_of_the_unedited_kernel() -> (
    None
):
    """Each session of ncu takes seconds to begin; what is decided is the same without."""
    world, alone = Begins(RATIOS), Cannot(RATIOS)
    found, same = counted(world), counted(alone)
    assert world.together[0] == ["", "b"]
    assert alone.together[:2] == [[""], ["b"]]
    assert [*itertools.chain(*world.together)] == [*itertools.chain(*alone.together)]
    assert [step.kernel.source for step in found.steps] == [s.kernel.source for s in same.steps]
    assert [bool(s.verdict.counters) for s in found.steps] == [
        bool(s.verdict.counters) for s in same.steps
    ]


def constants(kernel: Kernel, findings: Sequence[Finding]) -> Sequence[Edit]:
    names = "uvwxyU" if findings else "UyxwvU"
    return [Edit(kernel.source + one, one, "rule:tune", kind="tune") for one in names]


def seen(kernel: Kernel, verdict: Verdict | None) -> Iterator[Finding]:
    if verdict and verdict.counters:
        yield Finding("d", "much", subject=kernel.name)


@pytest.mark.parametrize("width", [1, 8])
def test_constants_are_not_drawn_ahead_while_counters_may_still_order_them(width: int) -> None:
    """A replay begins nothing ahead, and has to meet the same candidates."""
    tried = []
    for live in (True, False):
        ratios = dict.fromkeys("abcd", 1.01)  # one batch: nothing else waits at the unedited one
        world = Begins(ratios) if live else Cannot(ratios)
        given = Tools(
            world,
            world,
            detectors=(seen,),
            tune=constants,
            boundary=no_boundary,
            clock=lambda: 0.0,
            profile=True,
            width=width if live else 1,
        )
        found = search(Kernel("k", ""), landscape.workload(), given, Budget(14))
        tried.append([step.kernel.source for step in found.steps])
    assert tried[0] == tried[1]
