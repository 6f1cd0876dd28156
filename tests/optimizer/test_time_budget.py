"""A time budget holds: what cannot end in the time left is not begun, and what was found is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from optimizer import landscape
from optimizer.budget import Budget, Stopped
from optimizer.model import Effort, Kernel, Kind, Status, Trajectory, Verdict, Workload
from optimizer.search import LOOKED_ONCE, search
from optimizer.tools import Stage, Tools, no_boundary
from tests.optimizer.search_worlds import Scripted

PROGRAM = replace(landscape.workload(), kind=Kind.PROGRAM)
# What an n-body program of 14 ms took on an H200, in seconds.
FIRST = {"profile original": 2.1, "verify": 0.0, "time": 0.35}
COSTS = {Effort.SCREEN: 1.0, Effort.RACE: 4.2, Effort.PROFILE: 5.0, Effort.CONFIRM: 6.0}


class Hours(Scripted):
    """A world in which everything takes its time; each verdict of a batch is waited for."""

    now = 0.0
    told: tuple[float, ...] = ()

    def evaluate(
        self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        self.asked += [(kernel.source, effort) for kernel in kernels]
        return Waiting(self, [kernel.source for kernel in kernels], effort)

    def within(self, seconds: float) -> None:
        self.told = (*self.told, seconds)


class Waiting(Sequence[Verdict]):
    """Verdicts that take their time when they are looked at; `cancelled` are never looked at."""

    def __init__(self, world: Hours, sources: list[str], effort: Effort) -> None:
        self.world, self.sources, self.effort = world, sources, effort

    def __len__(self) -> int:
        return len(self.sources)

    def __getitem__(self, place: int) -> Verdict:  # type: ignore[override]
        if place >= len(self.sources):
            raise IndexError
        source = self.sources[place]
        first = self.effort is Effort.SCREEN and not source
        self.world.now += 3.4 if first else COSTS[self.effort]
        found = self.world.verdict(source, self.effort)
        return replace(found, seconds=FIRST) if first else found


def ran(seconds: float, ratios: dict[str, float]) -> tuple[Hours, Trajectory]:
    world = Hours(ratios)
    given = Tools(
        world,
        world,
        boundary=no_boundary,
        clock=lambda: world.now,
        profile=True,
        profile_seconds=5.0,
    )
    budget = Budget(500, minutes=seconds / 60.0)
    return world, search(Kernel("k", ""), PROGRAM, given, budget)


FOUND = {"a" * n: 1.0 + 0.3 * n for n in range(1, 60)}


def test_what_was_found_in_half_of_a_short_budget_is_confirmed() -> None:
    world, found = ran(14.0, {"a": 2.7, "b": 0.4, "c": 0.9, "d": 0.8})
    assert found.stopped == Stopped.MINUTES.value
    assert found.winner is not None
    assert world.now <= 1.2 * 14.0
    assert found.confirmation is not None
    assert found.confirmation.status is Status.CORRECT


def test_counters_that_cannot_be_read_in_time_are_not_begun_and_that_is_said() -> None:
    world, found = ran(14.0, FOUND)
    assert Effort.PROFILE not in [effort for _, effort in world.asked]
    (note,) = [note for note in found.notes if "counters" in note]
    assert note.startswith("counters of step 0 were not read: ")
    assert "about 5 s" in note
    assert Effort.RACE not in [effort for _, effort in world.asked]
    assert LOOKED_ONCE in found.notes


def test_a_longer_budget_has_time_for_counters_and_for_the_original_against_itself() -> None:
    world, found = ran(60.0, FOUND)
    efforts = [effort for _, effort in world.asked]
    assert Effort.PROFILE in efforts
    assert ("", Effort.RACE) in world.asked
    assert LOOKED_ONCE not in found.notes
    assert found.winner is not None
    assert world.now <= 1.1 * 60.0
    # Counters are of use until what is kept for the end begins, a confirmation's answer till then.
    assert all(0.0 < seconds < 60.0 for seconds in world.told)


def test_edits_come_before_constants_where_half_of_a_budget_is_kept_back() -> None:
    """The unedited program alone took half of it."""
    world = Hours({"a": 0.9, "b": 0.9})
    stages: list[Stage] = []
    tools = Tools(world, world, boundary=no_boundary, clock=lambda: world.now)
    budget = Budget(500, minutes=7.0 / 60.0)
    search(Kernel("k", ""), PROGRAM, tools, budget, on_event=lambda e: stages.append(e.stage))
    assert Stage.SEARCHING in stages


def test_nothing_is_kept_for_confirming_while_there_is_nothing_to_confirm() -> None:
    world, found = ran(14.0, dict.fromkeys("abcdefghijklmnopqrstuvwxyz", 0.9))
    assert found.winner is None
    assert 14.0 <= world.now < 16.0


@pytest.mark.parametrize(("seconds", "left"), [(60.0, 1), (11.0, 0)])
def test_the_rest_of_a_batch_is_not_waited_for_when_the_minutes_are_over(
    seconds: float, left: int
) -> None:
    world, found = ran(seconds, {"a": 2.0, "b": 2.1, "c": 2.2, "d": 2.3})
    screened = [source for source, effort in world.asked if effort is Effort.SCREEN]
    assert (len(found.steps) == len(screened)) is (left > 0)
    assert found.winner is not None
