"""What a search for energy offers: never wrong, never unmeasured, never for certain speed."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from optimizer import landscape
from optimizer.budget import Budget, SearchSettings
from optimizer.energy import energy_of, saving, saving_interval, uses_less
from optimizer.errors import RunnerError
from optimizer.model import (
    Acceptance,
    CaseEnergy,
    CaseTimes,
    Edit,
    Effort,
    Energy,
    Finding,
    Kernel,
    Measurement,
    Objective,
    Proposal,
    Status,
    Step,
    Trajectory,
    Verdict,
)
from optimizer.search import search
from optimizer.significance import NOISE_FLOOR, interval
from optimizer.tools import Tools, no_boundary

ACCEPT = Acceptance()


@dataclass(frozen=True)
class Subject:
    """A candidate: how fast and thrifty it is, and what becomes of it when it is looked at."""

    speed: float = 1.0
    saving: float = 1.0
    confirmed: float | None = None
    weighs: float | None = None
    fails: frozenset[Effort] = frozenset()
    unmeasured: frozenset[Effort] = frozenset()
    memory: int | None = 100


@dataclass
class World:
    """Proposes every subject as an edit of the root, and judges it with a little noise."""

    subjects: dict[str, Subject]
    noise: float = 0.001
    asked: list[tuple[str, Effort]] = field(default_factory=list)
    trouble: dict[Effort, Exception] = field(default_factory=dict)

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        if step.kernel.source:
            return []
        return [Proposal(Edit(name, name, "rule:x", kind=name), 0.5) for name in self.subjects]

    def evaluate(
        self, kernels: Sequence[Kernel], workload: object, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        if effort in self.trouble:
            raise self.trouble[effort]
        self.asked += [(kernel.source, effort) for kernel in kernels]
        return [self.verdict(kernel.source, effort) for kernel in kernels]

    def verdict(self, name: str, effort: Effort) -> Verdict:
        one = self.subjects.get(name, Subject())
        if effort in one.fails:
            return Verdict(Status.WRONG_RESULT)
        draw = random.Random(f"{name} {effort}")  # noqa: S311 - no secret
        speed = one.confirmed if effort is Effort.CONFIRM and one.confirmed else one.speed
        after = tuple(100.0 / speed * math.exp(draw.gauss(0, self.noise)) for _ in range(20))
        measured = Measurement(
            (CaseTimes("n=1", after, (100.0,) * 20),), "a GPU", peak_memory_bytes=one.memory
        )
        if effort in {Effort.WEIGH, Effort.ENERGY}:
            pairs = 2 if effort is Effort.WEIGH else 4
            own = one.weighs if effort is Effort.WEIGH and one.weighs else one.saving
            less = tuple(50.0 / own * math.exp(draw.gauss(0, self.noise)) for _ in range(pairs))
            energy = Energy((CaseEnergy("n=1", less, (50.0,) * pairs),))
            if effort in one.unmeasured:
                energy = Energy(unavailable="MIG is on")
            measured = replace(measured, energy=energy)
        return Verdict(Status.CORRECT, measured, machine_code=name or "root")


def run(world: World, objective: str, accept: Acceptance = ACCEPT) -> Trajectory:
    """Search a world for an objective."""
    tools = Tools(world, world, boundary=no_boundary, clock=lambda: 0.0)
    workload = replace(landscape.workload(), accept=accept)
    settings = SearchSettings(objective=Objective(objective), shorten=False)
    return search(Kernel("k", ""), workload, tools, Budget(40), settings=settings)


def low(found: Trajectory) -> float:
    """Return the speedup that is certain of a winner, 1 of the original."""
    if not found.winner or found.confirmation is None:
        return 1.0
    seen = interval(found.confirmation.measurement, ACCEPT.confidence)
    assert seen is not None
    return seen.low


def energy(found: Trajectory) -> Energy | None:
    """Return what is known of a winner's energy."""
    return energy_of(found.confirmation.measurement) if found.confirmation else None


def test_a_search_for_time_reads_no_energy() -> None:
    """Its questions, and so its recordings, are what they were."""
    world = World({"a": Subject(2.0, 3.0), "b": Subject(1.9, 4.0)})
    found = run(world, "time")
    assert found.best.kernel.source == "a"
    assert {effort for _, effort in world.asked} <= {Effort.SCREEN, Effort.RACE, Effort.CONFIRM}


def test_of_two_as_fast_the_thriftier_is_offered() -> None:
    """At matched speed, with what the fastest would have taken in the notes."""
    world = World({"a": Subject(2.000, 2.0), "b": Subject(2.004, 2.3, confirmed=2.02)})
    assert run(World({"a": Subject(2.0, 2.0), "b": Subject(1.99, 2.3)}), "time").winner
    found = run(world, "time-then-energy")
    assert found.best.kernel.source == "b"
    assert saving(energy(found)) == pytest.approx(2.3, rel=0.01)


def test_the_fastest_gives_its_place_to_one_as_fast() -> None:
    """The rival's certain speedup is no smaller, its energy is."""
    world = World({"a": Subject(2.03, 2.0, confirmed=2.0), "b": Subject(2.0, 2.3, confirmed=2.01)})
    fast = run(replace(world, asked=[]), "time")
    found = run(world, "time-then-energy")
    assert (fast.best.kernel.source, found.best.kernel.source) == ("a", "b")
    assert low(found) >= low(fast)
    assert any("is as fast and takes 1" in note for note in found.notes)


def test_certain_speed_is_not_given_up_for_energy() -> None:
    """A rival of half the energy that is one per cent slower stays where it is."""
    world = World({"a": Subject(2.0, 2.0), "b": Subject(1.98, 4.0)})
    found = run(world, "time-then-energy")
    assert found.best.kernel.source == "a"
    assert any("is certain of its speed" in note for note in found.notes)
    assert saving(energy(found)) == pytest.approx(2.0, rel=0.01)


def test_where_nothing_is_faster_the_same_speed_for_less_is_offered() -> None:
    """The original is then the fastest there is; what is certainly no slower may replace it."""
    world = World({"a": Subject(1.01, 1.3), "b": Subject(0.99, 2.0), "c": Subject(1.0, 1.01)})
    found = run(world, "time-then-energy")
    assert found.best.kernel.source == "a"
    assert run(World({"a": Subject(0.99, 1.3)}), "time-then-energy").winner is None


def test_without_a_counter_time_decides_and_the_reason_is_told() -> None:
    """`time-then-energy` is then what `time` is; `energy` offers nothing."""
    both = frozenset((Effort.WEIGH, Effort.ENERGY))
    subjects = {"a": Subject(2.0, unmeasured=both), "b": Subject(2.0, 3.0, unmeasured=both)}
    found = run(World(subjects), "time-then-energy")
    assert found.winner == run(World(subjects), "time").winner
    assert any("energy was not measured: MIG is on" in note for note in found.notes)
    found = run(World(subjects), "energy")
    assert found.winner is None
    assert any("energy was not measured: MIG is on" in note for note in found.notes)


def test_a_winner_found_wrong_while_its_energy_is_read_is_not_offered() -> None:
    """It launches more often than any check before: what it does then counts."""
    world = World({"a": Subject(2.0, 2.0, fails=frozenset((Effort.ENERGY,)))})
    for objective in ("energy", "time-then-energy"):
        assert run(world, objective).winner is None


def test_a_runner_that_fails_ends_the_reading_not_the_result() -> None:
    """The winner for time stays, unmeasured, with a note."""
    world = World({"a": Subject(2.0, 2.0)})
    world.trouble[Effort.WEIGH] = RunnerError("the GPU is gone")
    found = run(world, "time-then-energy")
    assert found.best.kernel.source == "a"
    assert any("energy was not measured: the GPU is gone" in note for note in found.notes)
    world.trouble = {Effort.ENERGY: KeyboardInterrupt()}  # type: ignore[dict-item]
    found = run(world, "time-then-energy")
    assert found.best.kernel.source == "a"
    assert any("energy was not measured: interrupted" in note for note in found.notes)


def test_energy_prefers_the_thriftiest_that_is_no_slower() -> None:
    """A slower one of a third of the energy is left alone, a faster one of more energy too."""
    world = World({"a": Subject(2.0, 1.5), "b": Subject(1.95, 1.9), "c": Subject(0.9, 3.0)})
    found = run(world, "energy")
    assert found.best.kernel.source == "b"
    assert saving(energy(found)) == pytest.approx(1.9, rel=0.01)


def test_a_weighing_that_was_off_decides_nothing() -> None:
    """Who came first by it falls short of what the next one weighed, which is confirmed as well."""
    world = World({"a": Subject(1.3, 1.2, weighs=1.6), "b": Subject(1.4, 1.3), "c": Subject(1.4)})
    found = run(world, "energy")
    assert found.best.kernel.source == "b"
    assert saving(energy(found)) == pytest.approx(1.3, rel=0.01)
    assert ("c", Effort.ENERGY) not in world.asked


def test_what_was_confirmed_is_offered_when_the_next_one_is_interrupted() -> None:
    """A second opinion costs nothing that is known."""

    class Interrupted(World):
        def verdict(self, name: str, effort: Effort) -> Verdict:
            if (name, effort) == ("b", Effort.CONFIRM):
                raise KeyboardInterrupt
            return super().verdict(name, effort)

    world = Interrupted({"a": Subject(1.3, 1.2, weighs=1.6), "b": Subject(1.4, 1.3)})
    found = run(world, "energy")
    assert found.best.kernel.source == "a"
    assert saving(energy(found)) == pytest.approx(1.2, rel=0.01)
    assert "what weighed less was not confirmed: interrupted" in found.notes


def test_an_energy_search_values_measured_savings() -> None:
    """The reward of a weighed candidate is that of its saving."""
    found = run(World({"a": Subject(2.0, 1.5), "b": Subject(2.0, 4.0)}), "energy")
    rewards = {step.kernel.source: step.reward for step in found.steps}
    assert rewards["b"] > rewards["a"] + 0.5


SPEEDS = st.sampled_from([0.8, 0.99, 1.0, 1.02, 1.1, 1.99, 2.0, 2.01, 2.02, 3.0])
LOOKS = st.frozensets(st.sampled_from([Effort.CONFIRM, Effort.WEIGH, Effort.ENERGY]), max_size=1)
SUBJECTS = st.builds(
    Subject,
    speed=SPEEDS,
    saving=st.sampled_from([0.5, 0.9, 1.0, 1.02, 1.2, 2.0, 2.5]),
    confirmed=st.one_of(st.none(), SPEEDS),
    fails=LOOKS,
    unmeasured=LOOKS,
)
WORLDS = st.dictionaries(st.sampled_from("abcdef"), SUBJECTS, max_size=6)
MANY = settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow], deadline=None)


@MANY
@given(WORLDS)
def test_time_then_energy_never_gives_up_confirmed_speed(subjects: dict[str, Subject]) -> None:
    """In any world its winner is as fast for certain as that of `time`, and thriftier if another."""
    fast = run(World(subjects), "time")
    found = run(World(subjects), "time-then-energy")
    if found.winner is None:
        broken = fast.winner and Effort.ENERGY in subjects[fast.best.kernel.source].fails
        assert fast.winner is None or broken
        return
    assert found.confirmation is not None
    assert found.confirmation.status is Status.CORRECT
    assert low(found) >= low(fast)
    if found.winner != fast.winner:
        assert energy(found) is not None
        if fast.winner:
            world = World(subjects).verdict(fast.best.kernel.source, Effort.ENERGY)
            assert uses_less(energy(found), energy_of(world.measurement), ACCEPT.confidence)


@MANY
@given(WORLDS)
def test_energy_never_offers_what_is_wrong_slower_or_unmeasured(
    subjects: dict[str, Subject],
) -> None:
    """Its winner was confirmed correct, no slower, and to take less, by figures that bear it."""
    found = run(World(subjects), "energy")
    if found.winner is None:
        return
    assert found.confirmation is not None
    assert found.confirmation.status is Status.CORRECT
    subject = subjects[found.best.kernel.source]
    assert not subject.fails & {Effort.CONFIRM, Effort.WEIGH, Effort.ENERGY}
    assert Effort.ENERGY not in subject.unmeasured
    assert low(found) >= 1.0 - NOISE_FLOOR
    seen = saving_interval(energy(found), ACCEPT.confidence)
    assert seen is not None
    assert seen.low > ACCEPT.min_speedup


@MANY
@given(WORLDS, st.dictionaries(st.sampled_from("abcdef"), st.none() | st.integers(90, 120)))
def test_a_limit_on_memory_holds_under_every_objective(
    subjects: dict[str, Subject], memory: dict[str, int | None]
) -> None:
    """What takes more than allowed, or is not known, is not offered."""
    subjects = {name: replace(one, memory=memory.get(name, 100)) for name, one in subjects.items()}
    accept = Acceptance(max_memory_growth=0.1)
    for objective in ("time", "energy", "time-then-energy"):
        found = run(World(subjects), objective, accept)
        if found.winner:
            taken = subjects[found.best.kernel.source].memory
            assert taken is not None
            assert taken <= 110
