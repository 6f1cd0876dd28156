"""Rules first where a detector names one; a model where none applies or the search stalls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from optimizer.errors import ProposalError

if TYPE_CHECKING:
    from optimizer.interfaces import ProposalPolicy
    from optimizer.model import Finding, Proposal, Step

# Candidates asked of a model at once: one evaluation batch less two of the rules'.
MODEL_WIDTH = 4
# Steps proposed for without a better one among them, after which the search counts as stalled.
PATIENCE = 4
# A model that failed this often in a row is not asked again.
FAILURES_TOLERATED = 3


class MixedPolicy:
    """Two policies as one. Without a model it proposes exactly what the rules propose."""

    def __init__(self, rules: ProposalPolicy, model: ProposalPolicy | None = None) -> None:
        self._rules, self._model = rules, model
        self._notes: list[str] = []
        self._failures = 0
        self._best = float("-inf")
        self._without_progress = 0

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what either policy had to say for itself."""
        inner = [getattr(policy, "notes", ()) for policy in (self._rules, self._model)]
        return (*inner[0], *inner[1], *self._notes)

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        """Return the rules' proposals, the model's behind them where the rules are not enough."""
        found = list(self._rules.propose(step, findings, limit))
        if self._model is None or self._failures >= FAILURES_TOLERATED:
            return found
        stalled = self._stalled(step)
        wanted = {kind for finding in findings for kind in finding.remedies}
        if found and not stalled and any(p.edit.kind in wanted for p in found):
            return found
        room = min(MODEL_WIDTH, limit - len(found))
        return [*found, *self._asked(self._model, step, findings, room)] if room else found

    def _asked(
        self, model: ProposalPolicy, step: Step, findings: Sequence[Finding], limit: int
    ) -> list[Proposal]:
        try:
            asked = list(model.propose(step, findings, limit))
        except ProposalError as error:
            self._failures += 1
            self._notes.append(f"the model did not answer: {error.message}")
            return []
        self._failures = 0
        return asked

    def _stalled(self, step: Step) -> bool:
        if step.reward > self._best or step.parent is None:
            self._best, self._without_progress = step.reward, 0
        else:
            self._without_progress += 1
        return self._without_progress >= PATIENCE
