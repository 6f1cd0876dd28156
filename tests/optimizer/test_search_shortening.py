"""A winner is offered without the edits that brought nothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest

from optimizer import landscape
from optimizer.budget import Budget, SearchSettings
from optimizer.model import (
    CaseTimes,
    Edit,
    Effort,
    Finding,
    Kernel,
    Measurement,
    Proposal,
    Status,
    Step,
    Trajectory,
    Verdict,
    Workload,
)
from optimizer.search import search
from optimizer.significance import speedup
from optimizer.tools import Tools, no_boundary


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
