"""Whether an edit addressed what was diagnosed, and whether what it promised came true."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from optimizer.model import Status
from optimizer.significance import speedup

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optimizer.model import Edit, Finding, Step, Verdict

# Half of the score is the diagnosis, half the outcome: OptiML's judge is asked both questions and
# publishes no weights.
ADDRESSES = 0.5
# Without a diagnosis to compare with, an edit is neither praised nor blamed for it.
NOT_DIAGNOSED = 0.25
# Rank lost for each remedy a finding would rather have seen.
RANK_DECAY = 0.8


@dataclass(frozen=True, slots=True)
class Opinion:
    """A score from 0 to 1, the reason in one sentence, and who says so."""

    score: float
    reason: str
    author: str = "rule"


class Judge(Protocol):
    """Scores an edit once its verdict is known."""

    def __call__(
        self, parent: Step, findings: Sequence[Finding], edit: Edit, verdict: Verdict
    ) -> Opinion:
        """Return an opinion; `findings` are those of the candidate the edit was made from."""
        ...


@runtime_checkable
class LateJudge(Protocol):
    """What a judge does besides whose better opinion comes while the search goes on."""

    def watch(self, step: Step, parent: Step) -> None:
        """Hear of a step as it was judged first."""
        ...

    def revised(self) -> Sequence[tuple[int, Opinion]]:
        """Return opinions that take the place of the first ones, with the steps' numbers."""
        ...


def rule_judge(parent: Step, findings: Sequence[Finding], edit: Edit, verdict: Verdict) -> Opinion:
    """Judge by rule: the remedy a finding named, and predicted against achieved speedup."""
    if verdict.status is not Status.CORRECT:
        return Opinion(0.0, f"the candidate is {verdict.status.value}")
    addressed, why = _addresses(findings, edit)
    came_true, outcome = _came_true(parent, edit, verdict)
    return Opinion(addressed + came_true, f"{why}; {outcome}")


def _addresses(findings: Sequence[Finding], edit: Edit) -> tuple[float, str]:
    best, name = 0.0, ""
    for finding in findings:
        if edit.kind in finding.remedies:
            score = ADDRESSES * RANK_DECAY ** finding.remedies.index(edit.kind)
            score *= finding.confidence
            if score > best:
                best, name = score, finding.detector
    if name:
        return best, f"addresses {name}"
    if any(finding.remedies for finding in findings):
        return 0.0, "addresses nothing that was diagnosed"
    return NOT_DIAGNOSED, "nothing was diagnosed"


def _came_true(parent: Step, edit: Edit, verdict: Verdict) -> tuple[float, str]:
    """Compare log speedups over the parent: 1/2 when met or beaten, 0 when nothing was gained."""
    now, before = speedup(verdict.measurement), speedup(parent.verdict.measurement)
    if now is None or before is None:
        return 0.0, "not timed"
    achieved = now / before
    if edit.predicted is None or edit.predicted <= 1.0:
        return (0.5 if achieved > 1.01 else 0.0), f"achieved {achieved:.2f}×, nothing predicted"
    share = math.log(achieved) / math.log(edit.predicted)
    text = f"predicted {edit.predicted:.2f}×, achieved {achieved:.2f}×"
    return 0.5 * max(0.0, min(1.0, share)), text
