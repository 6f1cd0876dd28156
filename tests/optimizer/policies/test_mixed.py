"""Rules and a model together."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from optimizer.errors import ProposalError
from optimizer.model import Edit, Finding, Kernel, Proposal, Status, Step, Verdict
from optimizer.policies.mixed import FAILURES_TOLERATED, MODEL_WIDTH, PATIENCE, MixedPolicy


class Fixed:
    """Proposes given kinds for every step and remembers how many it was asked for."""

    def __init__(self, *kinds: str) -> None:
        self.kinds, self.asked = kinds, list[int]()
        self.notes = ("a note",)

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        self.asked.append(limit)
        return [Proposal(Edit(k, k, "x", kind=k), 0.5) for k in self.kinds][:limit]


class Failing(Fixed):
    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        super().propose(step, findings, limit)
        raise ProposalError("no key")


NAMED = Finding("f", "m", remedies=("coarsen",))


def step(number: int = 0, reward: float = 0.0) -> Step:
    parent = number - 1 if number else None
    return Step(number, parent, None, Kernel("k", str(number)), Verdict(Status.CORRECT), reward)


def kinds(found: Sequence[Proposal]) -> list[str]:
    return [proposal.edit.kind for proposal in found]


@pytest.mark.parametrize("findings", [(), (NAMED,)])
def test_without_a_model_it_is_exactly_the_rules(findings: tuple[Finding, ...]) -> None:
    rules = Fixed("coarsen", "hoist")
    assert MixedPolicy(rules).propose(step(), findings, 9) == rules.propose(step(), findings, 9)


def test_where_a_finding_names_a_rules_edit_the_model_is_not_asked() -> None:
    model = Fixed("idea")
    found = MixedPolicy(Fixed("coarsen", "hoist"), model).propose(step(), [NAMED], 9)
    assert kinds(found) == ["coarsen", "hoist"]
    assert model.asked == []


def test_where_no_finding_names_one_the_model_is_asked_for_a_few() -> None:
    model = Fixed("idea")
    found = MixedPolicy(Fixed("hoist"), model).propose(step(), [NAMED], 64)
    assert kinds(found) == ["hoist", "idea"]
    assert model.asked == [MODEL_WIDTH]


def test_where_the_rules_are_silent_the_model_speaks() -> None:
    assert kinds(MixedPolicy(Fixed(), Fixed("idea")).propose(step(), [NAMED], 9)) == ["idea"]


def test_no_rules_edit_is_lost_to_the_limit() -> None:
    found = MixedPolicy(Fixed("a", "b", "c"), Fixed("idea")).propose(step(), [], 3)
    assert kinds(found) == ["a", "b", "c"]


def test_a_search_that_stalls_brings_the_model_in_for_the_best_candidate() -> None:
    model = Fixed("idea")
    policy = MixedPolicy(Fixed("coarsen"), model)
    for number, reward in ((0, 0.0), (1, 1.0)):
        policy.observe(step(number, reward))
        policy.propose(step(number, reward), [NAMED], 9)
    for number in range(2, 2 + PATIENCE - 1):
        policy.observe(step(number, 0.5))
        assert policy.arrived(0.0) == ()
    assert model.asked == []
    policy.observe(step(9, 0.5))
    assert model.asked == [MODEL_WIDTH]
    ((number, proposals),) = policy.arrived(0.0)
    assert number == 1
    assert kinds(proposals) == ["idea"]


def test_a_better_candidate_ends_the_stall() -> None:
    model = Fixed("idea")
    policy = MixedPolicy(Fixed("coarsen"), model)
    policy.observe(step(0, 0.0))
    for number in range(1, 1 + 3 * PATIENCE):
        policy.observe(step(number, float(number)))
        policy.propose(step(number, float(number)), [NAMED], 9)
    assert model.asked == []


def test_a_model_that_does_not_answer_is_noted_and_at_last_left_alone() -> None:
    model = Failing()
    policy = MixedPolicy(Fixed("hoist"), model)
    for number in range(10):
        assert kinds(policy.propose(step(number), [], 9)) == ["hoist"]
    assert len(model.asked) == FAILURES_TOLERATED
    assert "the model did not answer: no key" in policy.notes
    assert "a note" in policy.notes
