"""What a language model did in a run and what it took: for the report, the console and machines."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from bot import wording
from bot.outcome import outcome_words, speedup_of
from optimizer.dialogue import Usage
from optimizer.model import Edit, Step, Trajectory

MODEL_AUTHOR = "llm:"


@dataclass(frozen=True, slots=True)
class ModelEdit:
    """An edit a model made: what it promised, what came of it, what its question took.

    `achieved` is the speedup over the candidate it was made from, None where there is none.
    """

    step: Step
    edit: Edit
    usage: Usage
    achieved: float | None
    result: str


@dataclass(frozen=True, slots=True)
class Promise:
    """One kind of edit: how often it was tried and worked, and its promises against its gains.

    `predicted` and `achieved` are geometric means over edits that have both.
    """

    kind: str
    tried: int
    correct: int
    predicted: float | None
    achieved: float | None


@dataclass(frozen=True, slots=True)
class ModelUse:
    """Who was asked, what it took in all, each edit that came of it."""

    model: str
    answers: str
    spent: Usage
    edits: tuple[ModelEdit, ...]
    promises: tuple[Promise, ...]

    @property
    def cost(self) -> str:
        """Say what it took in a line."""
        used = self.spent
        parts = [wording.count(used.calls, "call"), f"{used.tokens:,} tokens"]
        if used.cached:
            parts.append(f"{used.cached:,} of them known to the server")
        if used.kept:
            parts.append(wording.count(used.kept, "answer") + " kept from earlier runs")
        parts.append(f"{used.usd:.4f} USD")
        return ", ".join(parts)


def model_use(trajectory: Trajectory) -> ModelUse | None:
    """Return what a model did, None where none was asked."""
    environment, spent = trajectory.environment, trajectory.spending
    edits = tuple(_edits(trajectory))
    if not (environment.model or edits or spent.calls or spent.kept):
        return None
    return ModelUse(environment.model, environment.answers, spent, edits, tuple(_promises(edits)))


def _edits(trajectory: Trajectory) -> list[ModelEdit]:
    found: list[ModelEdit] = []
    for step in trajectory.steps[1:]:
        edit = step.edit
        if edit is None or not edit.author.startswith(MODEL_AUTHOR):
            continue
        now = speedup_of(step)
        before = speedup_of(trajectory.steps[step.parent or 0])
        achieved = now / before if now and before else None
        usage = edit.usage or Usage()
        found.append(ModelEdit(step, edit, usage, achieved, outcome_words(step)))
    return found


def _promises(edits: Sequence[ModelEdit]) -> list[Promise]:
    found: list[Promise] = []
    for kind in dict.fromkeys(one.edit.kind for one in edits):
        same = [one for one in edits if one.edit.kind == kind]
        both = [
            (one.edit.predicted, one.achieved)
            for one in same
            if one.edit.predicted and one.achieved
        ]
        predicted = _mean([promise for promise, _ in both if promise])
        achieved = _mean([gain for _, gain in both if gain])
        correct = sum(one.achieved is not None for one in same)
        found.append(Promise(kind, len(same), correct, predicted, achieved))
    return sorted(found, key=lambda one: (-one.tried, one.kind))


def _mean(values: Sequence[float]) -> float | None:
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None
