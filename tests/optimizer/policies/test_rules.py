"""The policy of rules."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import pytest

from optimizer import plugins
from optimizer.interfaces import RewriteRule
from optimizer.memory import Lesson, SearchMemory
from optimizer.model import (
    Acceptance,
    CaseTimes,
    Edit,
    Finding,
    Kernel,
    Measurement,
    Severity,
    Status,
    Step,
    Verdict,
)
from optimizer.policies.rules import RulePolicy, edited, strengths
from optimizer.samples import SAMPLES
from optimizer.testing import ProposalPolicyContract

TWO = """\
__global__ void first(float *x) {
  x[0] = 1;
}
__global__ void second(float *x) {
  x[0] = 2;
}
"""


def at(kernel: Kernel, shares: dict[str, float] | None = None) -> Step:
    times = CaseTimes("n=1", (1.0,), (1.0,))
    return Step(
        0, None, None, kernel, Verdict(Status.CORRECT, Measurement((times,), "H200", shares or {}))
    )


def appends(*kinds: str, predicted: float | None = None) -> RewriteRule:
    def rule(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
        for kind in kinds:
            source = f"{kernel.source}// {kind}\n"
            yield Edit(kind, source, f"rule:{kind}", kind=kind, predicted=predicted)

    return rule


def kinds(policy: RulePolicy, *findings: Finding, step: Step | None = None) -> list[str]:
    return [p.edit.kind for p in policy.propose(step or at(Kernel("k", "")), findings, 50)]


def prior(policy: RulePolicy, kind: str, *findings: Finding) -> float:
    found = policy.propose(at(Kernel("k", "")), findings, 50)
    return next(p.prior for p in found if p.edit.kind == kind)


class TestWithTheBuiltInRules(ProposalPolicyContract):
    @pytest.fixture
    def make(self) -> Callable[[], RulePolicy]:
        return lambda: RulePolicy(plugins.rules())


def test_without_findings_rules_come_in_the_order_of_what_they_return() -> None:
    policy = RulePolicy({"x": appends("restrict", "block-size", "warp-per-row")})
    assert kinds(policy) == ["warp-per-row", "block-size", "restrict"]


def test_a_finding_brings_its_remedy_to_the_front() -> None:
    policy = RulePolicy({"x": appends("block-size", "restrict", "coarsen")})
    finding = Finding("f", "m", severity=Severity.CRITICAL, remedies=("restrict",), expected=2.0)
    assert kinds(policy, finding)[0] == "restrict"


def test_the_same_candidate_is_proposed_once_and_the_kernel_itself_never() -> None:
    def same(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
        yield Edit("nothing", kernel.source, "rule:same")
        yield from appends("a")(kernel, findings)

    policy = RulePolicy({"one": same, "two": appends("a")})
    assert kinds(policy) == ["a"]


def test_an_edit_without_a_kind_takes_the_name_of_its_rule() -> None:
    def unnamed(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
        yield Edit("t", "s", "rule:mine")

    assert kinds(RulePolicy({"my-rule": unnamed})) == ["my-rule"]


def test_a_rule_that_raises_is_named_and_the_others_go_on() -> None:
    def broken(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
        raise RecursionError("deep")

    policy = RulePolicy({"bad": broken, "good": appends("a")})
    assert kinds(policy) == ["a"]
    assert policy.notes == ("rule bad failed: RecursionError: deep",)


def test_fast_maths_needs_leave() -> None:
    rules = {"fast-math": appends("fast-math"), "a": appends("a")}
    assert kinds(RulePolicy(rules, Acceptance())) == ["a"]
    assert "fast-math" in kinds(RulePolicy(rules, Acceptance(allow_fast_math=True)))


def test_another_search_of_the_same_kernel_hears_it_all_again() -> None:
    policy = RulePolicy({"x": appends("a", "b")})
    kernel = Kernel("k", "")
    assert len(kinds(policy, step=at(kernel))) == 2
    assert kinds(policy, step=at(kernel)) == []
    assert len(kinds(policy, step=at(replace(kernel)))) == 2


def test_rules_are_asked_once_for_a_kernel_and_its_findings() -> None:
    calls: list[str] = []

    def counting(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
        calls.append(kernel.digest)
        yield from appends("a", "b", "c")(kernel, findings)

    policy = RulePolicy({"x": counting})
    step = at(Kernel("k", ""))
    for _ in range(4):
        policy.propose(step, (), 1)
    assert len(calls) == 1


def test_an_edit_of_an_idle_kernel_waits() -> None:
    def each(kernel: Kernel, findings: Sequence[Finding]) -> Iterable[Edit]:
        for n, name in ((1, "first"), (2, "second")):
            yield Edit(name, TWO.replace(f"= {n};", f"= {n}.0f;"), "rule:x", kind="coarsen")

    step = at(Kernel("k", TWO), {"first": 0.05, "second": 0.95})
    found = RulePolicy({"x": each}).propose(step, (), 9)
    assert [p.edit.title for p in found] == ["second", "first"]
    assert found[1].prior < 0.5 * found[0].prior


def test_the_edited_kernel_is_the_one_around_the_first_change() -> None:
    spans = [(0, "first"), (3, "second")]
    assert edited(TWO, TWO.replace("= 2", "= 3"), spans) == "second"
    assert edited(TWO, TWO.replace("= 1", "= 3"), spans) == "first"


def test_a_small_share_weakens_a_finding_as_amdahl_says() -> None:
    finding = Finding(
        "f", "m", severity=Severity.CRITICAL, subject="k", remedies=("a", "b"), expected=10.0
    )
    whole, tenth = strengths([finding], {"k": 1.0}), strengths([finding], {"k": 0.1})
    assert whole["a"] == 1.0
    assert whole["b"] < whole["a"]
    assert tenth["a"] < 0.2


def test_memory_shifts_a_prior_and_can_be_left_out() -> None:
    lessons = [Lesson("coarsen", "", "H200", -0.5, 1.0)] * 20
    rules = {"x": appends("coarsen")}
    plain = prior(RulePolicy(rules), "coarsen")
    assert prior(RulePolicy(rules, memory=SearchMemory(lessons, "H200", 1.0)), "coarsen") < plain
    assert prior(RulePolicy(rules, memory=SearchMemory((), "H200", 1.0)), "coarsen") == plain


def test_a_promised_gain_raises_a_prior() -> None:
    bold, meek = (
        RulePolicy({"x": appends("a", predicted=2.0)}),
        RulePolicy({"x": appends("a", predicted=1.0)}),
    )
    assert prior(bold, "a") > prior(meek, "a")


def test_the_built_in_rules_cost_little_a_kernel() -> None:
    policy = RulePolicy(plugins.rules())
    policy.propose(at(SAMPLES[0]), (), 50)
    began = time.thread_time()
    for kernel in SAMPLES:
        policy.propose(at(kernel), (), 50)
    assert (time.thread_time() - began) / len(SAMPLES) < 0.25
