"""How energy and memory are told: in the comment, the report, the console, and to machines."""

from __future__ import annotations

import random
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from bot import comment, commit_words, console, pareto, report
from bot.checks import closing_of
from bot.comment import Door
from bot.consumption import consumed, less, memory_words, span
from bot.interfaces import Change, Reviewed
from bot.outcome import summarize
from optimizer.model import (
    CaseEnergy,
    Energy,
    Measurement,
    Status,
    Trajectory,
    Verdict,
)
from optimizer.significance import Interval
from optimizer.trajectory import read_trajectory, write_trajectory
from tests.bot import synthetic

MIB = 1 << 20


def energy(saving: float, pairs: int = 3, seed: int = 0) -> Energy:
    """Make readings around a saving."""
    draw = random.Random(seed)  # noqa: S311 - repeatable, not secret
    cases = []
    for name, base, weight in (("n=4096", 40.0, 2.0), ("n=1000", 2.8, 1.0)):
        before = tuple(base * draw.gauss(1, 0.002) for _ in range(pairs))
        after = tuple(one / saving * draw.gauss(1, 0.002) for one in before)
        us = (100.0,) * pairs
        cases.append(CaseEnergy(name, after, before, us, us, weight))
    return Energy(tuple(cases), "", 92.0, 100.0, 2.5, (41.0, 55.0))


def taking(verdict: Verdict, found: Energy | None, before: int, after: int) -> Verdict:
    """Return a verdict whose measurement holds energy and memory."""
    assert verdict.measurement is not None
    measured = replace(
        verdict.measurement,
        energy=found,
        peak_memory_bytes=after,
        baseline_memory_bytes=before,
    )
    return replace(verdict, measurement=measured)


def weighed(saving: float = 2.9, speed: float = 3.39, found: Energy | None = None) -> Trajectory:
    """Return the made-up search with energies of its winner and of some others."""
    made = synthetic.trajectory()
    draw = random.Random(4)  # noqa: S311 - repeatable, not secret
    steps = []
    for step in made.steps:
        verdict = step.verdict
        if verdict.status is Status.CORRECT and step.parent is not None and step.number % 2:
            own = energy(draw.uniform(0.8, 3.1), 2, step.number)
            verdict = taking(verdict, own, 128 * MIB, 128 * MIB + step.number * MIB)
        elif verdict.status is Status.CORRECT:
            verdict = taking(verdict, None, 128 * MIB, 128 * MIB)
        steps.append(replace(step, verdict=verdict))
    confirmation = synthetic.verdict(speed, 99, profiled=False)
    confirmation = taking(confirmation, found or energy(saving), 128 * MIB, 130 * MIB)
    environment = replace(made.environment, objective="time-then-energy")
    return replace(made, steps=tuple(steps), confirmation=confirmation, environment=environment)


def reviewed(trajectory: Trajectory) -> Reviewed:
    """Return the review of a change with that result."""
    kernel = trajectory.baseline.kernel
    return Reviewed(Change(kernel, trajectory.workload), trajectory)


def said(trajectory: Trajectory) -> str:
    """Return the comment of a change with that result."""
    return comment.compose([reviewed(trajectory)], Door()).markdown or ""


def test_the_comment_tells_energy_before_and_after_and_the_memory() -> None:
    """Change, interval, figures of each case; memory of every winner."""
    text = said(weighed())
    assert "Energy of a launch: **65.5 % less** (99 % CI −6" in text
    assert "39.9 mJ → 13.8 mJ (`n=4096`)" in text
    assert "device memory 134 MB → 136 MB (+1.6 %)" in text


def test_energy_that_was_not_measured_is_said_with_its_reason() -> None:
    """In the comment, the report and the console alike; nothing where it was not asked for."""
    found = weighed(found=Energy(unavailable="MIG is on <b>"))
    assert r"Energy: not measured: MIG is on \<b\>" in said(found)
    assert "Energy was not measured: MIG is on &lt;b&gt;." in report.render(found)
    asked = synthetic.trajectory()
    assert "nergy" not in said(asked)
    assert 'id="energy"' not in report.render(asked)


def test_a_winner_for_its_energy_alone_is_not_called_faster() -> None:
    """Headline, comment, check, commits and report say what it saves."""
    found = weighed(saving=1.2, speed=1.0)
    outcome = summarize(found)
    assert outcome.saves_energy_alone
    assert outcome.headline.startswith("transpose: 16.7 % less energy (99 % CI −")
    for text in (
        said(found),
        closing_of([reviewed(found)]).summary,
        closing_of([reviewed(found)]).title,
        "".join(commit_words.stacked_words(outcome, 3, "protected")),
    ):
        assert "16.7 % less energy" in text
        assert "× faster" not in text
    page = report.render(found)
    assert "takes <em>16.7 % less</em> energy" in page
    assert "</em> faster</h1>" not in page


def test_the_report_draws_who_is_not_beaten() -> None:
    """The front holds the winner; the original is where both shares are 100 %."""
    found = weighed()
    page = report.render(found)
    assert "Time, energy, memory" in page
    assert "<strong>(winner)</strong>" in page
    candidates = pareto.candidates(found)
    assert candidates[0].time == candidates[0].energy == 1.0
    for one in pareto.front(candidates):
        assert not any(
            other.time <= one.time
            and (other.energy or 9) <= (one.energy or 9)
            and (other.memory or 0) < (one.memory or 0)
            for other in candidates
        )
    assert pareto.draw(pareto.candidates(synthetic.trajectory())) is None


def test_the_console_and_machines_are_told_the_same() -> None:
    """A line each for energy and memory; JSON in mJ and bytes."""
    outcome = summarize(weighed())
    shown = Console(file=StringIO(), width=200)
    console.show(shown, outcome, [])
    text = shown.file.getvalue()  # type: ignore[attr-defined]
    assert "65.5 % less energy (−" in text
    assert "device memory 134 MB → 136 MB (+1.6 %)" in text
    told = console.as_json(outcome, {})
    assert told["memory_bytes"] == {"before": 128 * MIB, "after": 130 * MIB}
    seen = told["energy"]
    assert isinstance(seen, dict)
    assert seen["saving"]["value"] == pytest.approx(2.9, rel=0.01)
    assert console.as_json(summarize(synthetic.trajectory()), {})["energy"] is None


def test_energies_survive_the_trajectory_file(tmp_path: Path) -> None:
    """Written and read again, nothing is lost."""
    found = weighed()
    write_trajectory(found, tmp_path / "t.jsonl")
    assert read_trajectory(tmp_path / "t.jsonl") == found


def test_savings_are_said_as_changes() -> None:
    """More is more, and few readings bear no interval."""
    assert less(0.5) == "100.0 % more"
    assert span(Interval(1.0, 0.0, float("inf"))) == "too few readings for an interval"
    assert memory_words(1000, 1004) == "device memory 1.00 kB (+4 B)"


@given(
    st.lists(st.floats(1e-6, 1e9), min_size=1, max_size=5),
    st.lists(st.floats(1e-6, 1e9), min_size=1, max_size=5),
)
def test_whatever_was_read_can_be_told(before: list[float], after: list[float]) -> None:
    """Words never fail on odd energies."""
    pairs = min(len(before), len(after))
    case = CaseEnergy("n", tuple(after[:pairs]), tuple(before[:pairs]))
    found = consumed(Measurement((), "g", energy=Energy((case,))), 0.99)
    assert found is not None
    assert found.words
