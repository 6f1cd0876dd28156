"""What compiling has shown to be pointless is not proposed."""

from __future__ import annotations

import pytest

from optimizer.model import Edit, Kernel, Resources, Status, Step, Verdict
from optimizer.policies.gates import pointless
from optimizer.policies.rules import RulePolicy
from optimizer.rules.launch_bounds import launch_bounds
from optimizer.rules.unroll import unroll

SOURCE = """__global__ void k(const float *x, float *o, int n) {
    float s = 0.f;
    for (int i = threadIdx.x; i < n; i += 256) {
        s += x[i];
    }
    o[threadIdx.x] = s;
}
void run(float *x, float *o, int n) { k<<<8, 256>>>(x, o, n); }
"""


def verdict(registers: int, loads: int) -> Verdict:
    code = {"k/LDG.E": loads, "k/LDC": 9, "k/STG.E": 1, "other/LDG.E": 7}
    return Verdict(Status.CORRECT, resources={"k": Resources(registers)}, instructions=code)


def proposed(registers: int, loads: int) -> set[str]:
    policy = RulePolicy({"launch-bounds": launch_bounds, "unroll": unroll})
    step = Step(0, None, None, Kernel("k", SOURCE), verdict(registers, loads))
    return {proposal.edit.title for proposal in policy.propose(step, (), 64)}


@pytest.mark.parametrize(
    ("registers", "bounds"), [(12, False), (30, False), (31, True), (40, True), (128, True)]
)
def test_blocks_are_bounded_only_where_registers_could_matter(registers: int, bounds: bool) -> None:
    """With up to 30 registers a multiprocessor is full whatever the bound."""
    found = [title for title in proposed(registers, 1) if title.startswith("keep")]
    assert bool(found) == bounds


@pytest.mark.parametrize(
    ("loads", "left"), [(1, {"by 4", "by 8"}), (4, {"by 8"}), (8, {"by 4"}), (16, {"by 4", "by 8"})]
)
def test_a_loop_whose_load_stands_as_often_already_is_not_unrolled_so(
    loads: int, left: set[str]
) -> None:
    """The compiler unrolls by itself; asking for the same gives the same machine code."""
    found = {title[-4:] for title in proposed(40, loads) if title.startswith("unroll")}
    assert found == left


def test_nothing_is_pointless_of_which_nothing_is_known() -> None:
    """Without resources, SASS, or a name of the kernel, everything is tried."""
    unknown = Verdict(Status.CORRECT)
    for kind, title in (("launch-bounds", "keep 8"), ("unroll", "unroll by 4"), ("hoist", "")):
        assert not pointless(Edit(title, SOURCE, "rule:x", kind=kind), "k", SOURCE, unknown)
        assert not pointless(Edit(title, SOURCE, "rule:x", kind=kind), "", SOURCE, verdict(40, 4))
