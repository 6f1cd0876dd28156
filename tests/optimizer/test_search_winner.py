"""Which candidate a search offers: what is raced, confirmed, and let go."""

from __future__ import annotations

import math
from dataclasses import replace

from optimizer import landscape
from optimizer.budget import Budget
from optimizer.model import (
    Effort,
    Kernel,
    Kind,
    Status,
    Verdict,
)
from optimizer.search import search
from optimizer.tools import Tools, no_boundary
from tests.optimizer.search_worlds import Scripted, scripted


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
