"""Rules first where a detector names one; a model where none applies or the search stalls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from optimizer.errors import ProposalError
from optimizer.interfaces import Foresighted, LatePolicy
from optimizer.model import Status

if TYPE_CHECKING:
    from optimizer.interfaces import ProposalPolicy
    from optimizer.model import Finding, Proposal, Step

# Candidates asked of a model at once: one evaluation batch less two of the rules'.
MODEL_WIDTH = 4
# Verdicts without a better one among them, after which the search counts as stalled: two batches.
PATIENCE = 8
# Of one candidate a stalled search asks the model so often, then of the next best.
ASKED_EACH = 2
# A model that failed this often in a row is not asked again.
FAILURES_TOLERATED = 3


@runtime_checkable
class _HearsOfRules(Protocol):
    def waiting(self, number: int, titles: Sequence[str]) -> None: ...


class MixedPolicy:
    """Two policies as one. Without a model it proposes exactly what the rules propose.

    Fulfils `LatePolicy`: a model that answers later is heard when it does.
    """

    def __init__(self, rules: ProposalPolicy, model: ProposalPolicy | None = None) -> None:
        self._rules, self._model = rules, model
        self._late = model if isinstance(model, LatePolicy) else None
        self._notes: list[str] = []
        self._failures = 0
        self._best = float("-inf")
        self._without_progress = 0
        self._known: dict[int, Step] = {}
        self._asked_of: dict[int, int] = {}
        self._held: list[tuple[int, Sequence[Proposal]]] = []

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what either policy had to say for itself."""
        inner = [getattr(policy, "notes", ()) for policy in (self._rules, self._model)]
        return (*inner[0], *inner[1], *self._notes)

    def propose(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        """Return the rules' proposals, the model's behind them where the rules are not enough."""
        found = list(self._rules.propose(step, findings, limit))
        if self._model is None:
            return found
        self._known[step.number] = replace(step, findings=tuple(findings))
        if found and isinstance(self._model, _HearsOfRules):
            self._model.waiting(step.number, [proposal.edit.title for proposal in found])
        wanted = {kind for finding in findings for kind in finding.remedies}
        if any(proposal.edit.kind in wanted for proposal in found):
            return found
        room = min(MODEL_WIDTH, limit - len(found))
        return [*found, *self._asked(step, findings, room)] if room else found

    def foresee(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        """Return what the rules would propose; a model is asked once and not before it is time."""
        rules = self._rules
        return rules.foresee(step, findings, limit) if isinstance(rules, Foresighted) else ()

    def observe(self, step: Step) -> None:
        """Hear of a verdict; when the search stalls, ask the model about the best candidate."""
        if self._late is not None:
            self._late.observe(step)
        if step.parent is None or step.reward > self._best:
            self._best, self._without_progress = step.reward, 0
            return
        self._without_progress += 1
        if self._model is not None and self._without_progress % PATIENCE == 0:
            self._ask_about_best()

    def arrived(self, wait: float) -> Sequence[tuple[int, Sequence[Proposal]]]:
        """Return what the model answered meanwhile."""
        held, self._held = self._held, []
        late = self._late.arrived(0.0 if held else wait) if self._late is not None else ()
        return (*held, *late)

    def _ask_about_best(self) -> None:
        """Ask about the best candidate that was not asked about often enough."""
        open_ = [
            step
            for number, step in self._known.items()
            if self._asked_of.get(number, 0) < ASKED_EACH and step.verdict.status is Status.CORRECT
        ]
        if open_:
            best = max(open_, key=lambda step: (step.reward, -step.number))
            asked = self._asked(best, best.findings, MODEL_WIDTH)
            if asked:
                self._held.append((best.number, asked))

    def _asked(self, step: Step, findings: Sequence[Finding], limit: int) -> Sequence[Proposal]:
        if self._model is None or self._failures >= FAILURES_TOLERATED:
            return ()
        self._asked_of[step.number] = self._asked_of.get(step.number, 0) + 1
        try:
            asked = self._model.propose(step, findings, limit)
        except ProposalError as error:
            self._failures += 1
            self._notes.append(f"the model did not answer: {error.message}")
            return ()
        self._failures = 0
        return asked
