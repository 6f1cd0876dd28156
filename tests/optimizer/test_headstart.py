"""What is begun while the unedited kernel is judged changes the time and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from optimizer import headstart
from optimizer.budget import Budget, SearchSettings
from optimizer.model import Effort, Kernel, Kind, Status, Verdict, Workload
from optimizer.plugins import rules
from optimizer.policies.rules import RulePolicy
from optimizer.search import search
from optimizer.tools import Tools

SOFTMAX = Path(__file__).parents[2] / "examples" / "softmax" / "softmax.cu"
KERNEL = Kernel("softmax", SOFTMAX.read_text(), "softmax.cu")


class Machines:
    """An evaluator that judges nothing wrong, and notes what it is asked and told to expect."""

    def __init__(self, *, begins: bool = True) -> None:
        self.begins = begins
        self.asked: list[tuple[str, Effort]] = []
        self.expected: list[str] = []

    def evaluate(
        self, kernels: Sequence[Kernel], workload: Workload, effort: Effort = Effort.SCREEN
    ) -> Sequence[Verdict]:
        del workload
        self.asked += [(kernel.digest, effort) for kernel in kernels]
        return [Verdict(Status.CORRECT, machine_code=kernel.digest) for kernel in kernels]

    def expect(self, kernels: Sequence[Kernel], workload: Workload) -> bool:
        del workload
        self.expected += [kernel.digest for kernel in kernels]
        return self.begins


def tools(machines: Machines, *, profile: bool = True) -> Tools:
    return Tools(policy=RulePolicy(rules([])), evaluator=machines, profile=profile)


def tried(machines: Machines) -> list[str]:
    workload = Workload("w", Kind.KERNEL, "softmax")
    found = search(KERNEL, workload, tools(machines), Budget(evaluations=12))
    return [step.kernel.digest for step in found.steps]


def test_the_first_candidates_are_compiled_while_the_unedited_kernel_is_judged() -> None:
    machines = Machines()
    steps = tried(machines)
    assert machines.expected[0] == KERNEL.digest
    again = machines.expected.index(KERNEL.digest, 1)  # while its counters are read
    likely = machines.expected[1:again]
    assert len(likely) == 2 * SearchSettings().batch
    assert steps[1] in likely
    assert sum(digest in likely for digest in steps[1:5]) >= 3


def test_a_head_start_changes_nothing_that_is_tried() -> None:
    idle = Machines(begins=False)
    assert tried(Machines()) == tried(idle)
    assert {*idle.expected} == {KERNEL.digest}


def test_what_one_gpu_is_given_next_is_compiled_while_it_judges_a_batch() -> None:
    """Nothing is judged for it that is not asked for."""
    machines = Machines()
    steps = tried(machines)
    again = machines.expected.index(KERNEL.digest, 1)
    batch = SearchSettings().batch
    begun = {*machines.expected[again + 1 :]}
    assert len(begun & {*steps[batch + 1 :]}) >= (len(steps) - batch - 1) // 2
    judged = {digest for digest, effort in machines.asked if effort is Effort.SCREEN}
    assert judged <= {*steps}


def test_counters_are_read_after_the_first_batch() -> None:
    machines = Machines()
    tried(machines)
    efforts = [effort for _, effort in machines.asked]
    before = efforts[: efforts.index(Effort.PROFILE)]
    assert before.count(Effort.SCREEN) == SearchSettings().batch


def test_nothing_is_guessed_where_nothing_can_be_begun() -> None:
    machines = Machines(begins=False)
    workload = Workload("w", Kind.KERNEL, "softmax")
    assert headstart.begin(KERNEL, workload, tools(machines), SearchSettings()) == ()
    assert len(machines.expected) == 1
