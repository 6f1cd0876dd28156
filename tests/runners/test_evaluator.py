"""Kernels as jobs."""

from __future__ import annotations

from collections.abc import Sequence

from optimizer.model import Effort, Kernel, Kind, Status, Verdict, Workload
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
