"""The judge by rule."""

from __future__ import annotations

from optimizer.judge import rule_judge
from optimizer.model import CaseTimes, Edit, Finding, Kernel, Measurement, Status, Step, Verdict

FINDING = Finding("uncoalesced-access", "m", remedies=("warp-per-row", "stage-transpose"))


def ran(ratio: float) -> Verdict:
    return Verdict(
        Status.CORRECT, Measurement((CaseTimes("a", (1.0,) * 4, (ratio,) * 4),), "a GPU")
    )


def edit(kind: str, predicted: float | None) -> Edit:
    return Edit("t", "s", "rule:x", kind=kind, predicted=predicted)


PARENT = Step(0, None, None, Kernel("k", ""), ran(2.0))


def test_an_edit_that_mends_what_was_found_and_keeps_its_promise_scores_full() -> None:
    opinion = rule_judge(PARENT, [FINDING], edit("warp-per-row", 1.5), ran(3.0))
    assert opinion.score == 1.0
    assert opinion.reason == "addresses uncoalesced-access; predicted 1.50×, achieved 1.50×"


def test_gain_is_measured_against_the_parent_not_the_baseline() -> None:
    assert rule_judge(PARENT, [FINDING], edit("warp-per-row", 1.5), ran(2.0)).score == 0.5


def test_the_second_best_remedy_scores_less() -> None:
    first = rule_judge(PARENT, [FINDING], edit("warp-per-row", 1.5), ran(3.0))
    second = rule_judge(PARENT, [FINDING], edit("stage-transpose", 1.5), ran(3.0))
    assert 0.5 < second.score < first.score


def test_an_edit_that_nothing_asked_for_scores_for_its_outcome_alone() -> None:
    opinion = rule_judge(PARENT, [FINDING], edit("unroll", None), ran(2.5))
    assert opinion.score == 0.5
    assert "addresses nothing that was diagnosed" in opinion.reason


def test_half_a_promise_kept_scores_between() -> None:
    opinion = rule_judge(PARENT, [], edit("unroll", 4.0), ran(4.0))
    assert opinion.score == 0.25 + 0.25


def test_a_candidate_that_failed_scores_nothing() -> None:
    failed = Verdict(Status.WRONG_RESULT)
    assert rule_judge(PARENT, [FINDING], edit("warp-per-row", 1.5), failed).score == 0.0
