"""Kernels as jobs."""

from __future__ import annotations

import math
from collections.abc import Sequence

from optimizer.interfaces import Revocable
from optimizer.model import Effort, Kernel, Kind, Status, Verdict, Workload
from runners.awaited import Awaited
from runners.evaluator import DispatchedEvaluator
from runners.interfaces import Job

WORKLOAD = Workload("w", Kind.KERNEL, "k")


class Counting:
    def __init__(self) -> None:
        self.jobs: list[Job] = []

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        self.jobs += jobs
        return [Verdict(Status.CORRECT, log=job.kernel.source) for job in jobs]


def outside(original: str, candidate: str, *, allow_host: bool) -> Sequence[str]:
    return ("a new #include",) if "include" in candidate and not allow_host else ()


def evaluator(dispatcher: Counting) -> DispatchedEvaluator:
    return DispatchedEvaluator(dispatcher, Kernel("k", "base"), seed=5, boundary=outside)


def test_a_source_outside_the_boundary_is_rejected_unrun() -> None:
    gpu = Counting()
    verdicts = evaluator(gpu).evaluate([Kernel("k", "a"), Kernel("k", "include")], WORKLOAD)
    assert [v.status for v in verdicts] == [Status.CORRECT, Status.REJECTED]
    assert "a new #include" in verdicts[1].log
    assert [j.kernel.source for j in gpu.jobs] == ["a"]


def test_nothing_is_asked_twice_even_in_one_batch() -> None:
    gpu = Counting()
    judge = evaluator(gpu)
    judge.evaluate([Kernel("k", "a"), Kernel("k", "a")], WORKLOAD)
    judge.evaluate([Kernel("k", "a")], WORKLOAD)
    assert len(gpu.jobs) == 1


def test_every_confirmation_is_a_new_run_on_new_data() -> None:
    gpu = Counting()
    judge = evaluator(gpu)
    for _ in range(2):
        judge.evaluate([Kernel("k", "a")], WORKLOAD, Effort.CONFIRM)
    judge.evaluate([Kernel("k", "a")], WORKLOAD)
    assert len({j.seed for j in gpu.jobs}) == 3


def test_what_is_of_use_for_a_while_only_is_said_of_the_next_answer_alone() -> None:
    gpu = Counting()
    judge = evaluator(gpu)
    for effort in (Effort.CONFIRM, Effort.PROFILE, Effort.SCREEN):
        judge.within(60.0)
        judge.evaluate([Kernel("k", "a")], WORKLOAD, effort)
    judge.evaluate([Kernel("k", "a")], WORKLOAD, Effort.CONFIRM)
    judge.within(math.inf)
    judge.evaluate([Kernel("k", "b")], WORKLOAD, Effort.PROFILE)
    assert [0.0 < job.within <= 60.0 for job in gpu.jobs] == [True, True, False, False, False]
    judge.within(-1.0)
    judge.evaluate([Kernel("k", "c")], WORKLOAD, Effort.PROFILE)
    assert gpu.jobs[-1].within > 0.0  # none would be no limit


class Line(Counting):
    """Lets all be taken back but the first."""

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        verdicts = super().dispatch(jobs)
        return Awaited(len(jobs), verdicts.__getitem__, cancel=lambda place: place > 0)


def test_what_was_taken_back_may_be_asked_about_once_more() -> None:
    gpu = Line()
    judge = evaluator(gpu)
    kernels = [Kernel("k", "a"), Kernel("k", "b")]
    answers = judge.evaluate(kernels, WORKLOAD)
    assert isinstance(answers, Revocable)
    assert [answers.cancel(place) for place in (0, 1)] == [False, True]
    judge.evaluate(kernels, WORKLOAD)
    assert [job.kernel.source for job in gpu.jobs] == ["a", "b", "b"]
