"""A language model's second opinion on edits that gained something, beside the search.

The rule judges at once; the model's opinion takes its place when it comes. Either moves a reward by
at most half of `reward.JUDGE_WEIGHT`, so it orders candidates of equal time and decides nothing
else: who wins is raced and confirmed by the clock.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from concurrent import futures
from importlib.resources import files
from typing import TYPE_CHECKING

from optimizer.dialogue import Answer, Message, Schema, Speaker, json_in
from optimizer.errors import ModelError
from optimizer.judge import Opinion, rule_judge
from optimizer.model import Status
from optimizer.prompting import findings_words
from optimizer.significance import speedup
from optimizer.tried import figure

if TYPE_CHECKING:
    from optimizer.exchange import ExchangeLog
    from optimizer.interfaces import Model
    from optimizer.model import Edit, Finding, Step, Verdict

# Opinions of one search: about one for each edit that a search of 80 evaluations keeps or nearly.
MOST_OPINIONS = 24
# Edits that gained less than timing noise are not worth a question.
LEAST_GAIN = 1.01
MOST_DIFF = 160
ANSWER_TOKENS = 2_048
LONGEST_REASON = 300
FAILURES_TOLERATED = 3
SCHEMA = Schema(
    "opinion",
    {
        "type": "object",
        "properties": {"score": {"type": "number"}, "reason": {"type": "string"}},
        "required": ["score", "reason"],
        "additionalProperties": False,
    },
)


class ModelJudge:
    """Fulfils `judge.Judge` by rule, and `judge.LateJudge` by a model.

    With a `schedule` (`exchange.Recorded`) opinions are given at the turns it names.
    """

    def __init__(
        self,
        model: Model,
        log: ExchangeLog | None = None,
        schedule: Mapping[str, int] | None = None,
    ) -> None:
        self._model, self._log, self._schedule = model, log, schedule
        self._open: dict[int, futures.Future[Opinion | None]] = {}
        self._turn = self._asked = self._failures = 0
        self._pool = futures.ThreadPoolExecutor(2, thread_name_prefix="judge")
        self._closed = False

    def __call__(
        self, parent: Step, findings: Sequence[Finding], edit: Edit, verdict: Verdict
    ) -> Opinion:
        """Return the rule's opinion."""
        return rule_judge(parent, findings, edit, verdict)

    def watch(self, step: Step, parent: Step) -> None:
        """Hear of a judged edit, and ask about it where it gained something."""
        asked = self._asked < MOST_OPINIONS and self._failures < FAILURES_TOLERATED
        if not asked or self._closed or not _worth_asking(step, parent):
            return
        self._asked += 1
        self._open[step.number] = self._pool.submit(self._opinion, opinion_prompt(step, parent))

    def revised(self) -> Sequence[tuple[int, Opinion]]:
        """Return the opinions that came in, with the numbers of their steps."""
        self._turn += 1
        found: list[tuple[int, Opinion]] = []
        for number in [n for n, future in self._open.items() if self._is_due(n, future)]:
            opinion = self._open.pop(number).result()
            if self._log is not None:
                self._log.handed(_name(number), number, self._turn)
            self._failures = 0 if opinion is not None else self._failures + 1
            if opinion is not None:
                found.append((number, opinion))
        return found

    def close(self) -> None:
        """Give up what is under way."""
        self._closed = True
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _is_due(self, number: int, future: futures.Future[Opinion | None]) -> bool:
        if self._schedule is not None:
            return self._schedule.get(_name(number)) == self._turn
        return future.done() and not future.cancelled()

    def _opinion(self, said: Sequence[Message]) -> Opinion | None:
        try:
            return read(self._model.ask(said, SCHEMA, ANSWER_TOKENS), self._model.name)
        except ModelError:
            return None


def opinion_prompt(step: Step, parent: Step) -> tuple[Message, ...]:
    """Return what a model is asked about an edit that was measured."""
    edit = step.edit
    diff = edit.diff(parent.kernel).splitlines()[2:] if edit else []
    parts = [findings_words(parent.findings[:6]), "# The edit"]
    parts += [f"|{line}" for line in diff[:MOST_DIFF]]
    if len(diff) > MOST_DIFF:
        parts.append(f"({len(diff) - MOST_DIFF} lines not shown)")
    if edit is not None:
        parts += ["# What its author claimed", f"|{edit.kind}: {' '.join(edit.title.split())}"]
        parts.append(f"|{' '.join(edit.rationale.split())}")
        parts.append(f"|predicted {figure(edit.predicted)}x" if edit.predicted else "|no gain")
    gain = _gain(step, parent)
    parts += ["# What was measured", f"{figure(gain)}x over the version before" if gain else "-"]
    text = "\n".join(part for part in parts if part)
    return (Message(Speaker.SYSTEM, _rules()), Message(Speaker.USER, text))


def read(answer: Answer, model: str) -> Opinion | None:
    """Return the opinion in an answer; None where there is none.

    >>> read(Answer('{"score": 2, "reason": "well done"}'), "m")
    Opinion(score=1.0, reason='well done', author='model:m')
    """
    found = json_in(answer.text) or {}
    score, reason = found.get("score"), found.get("reason")
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        return None
    words = " ".join(str(reason or "").split())
    words = "".join(sign for sign in words if sign.isprintable())[:LONGEST_REASON]
    return Opinion(max(0.0, min(1.0, float(score))), words, f"model:{answer.author or model}")


def _worth_asking(step: Step, parent: Step) -> bool:
    if step.edit is None or step.verdict.status is not Status.CORRECT or step.same_as is not None:
        return False
    gain = _gain(step, parent)
    return bool(parent.findings) and gain is not None and gain >= LEAST_GAIN


def _gain(step: Step, parent: Step) -> float | None:
    now, before = speedup(step.verdict.measurement), speedup(parent.verdict.measurement)
    return now / before if now and before else None


def _name(number: int) -> str:
    return f"judge.{number}"


@functools.cache
def _rules() -> str:
    return files("optimizer").joinpath("prompts/judge.txt").read_text(encoding="utf-8")
