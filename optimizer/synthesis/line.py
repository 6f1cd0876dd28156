"""A line of thought under way: its dialogue with a model, and what it is told when it was wrong."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib.resources import files
from typing import TYPE_CHECKING

from optimizer.dialogue import Answer, Message, Schema, Speaker, Usage
from optimizer.errors import PromptTooLong
from optimizer.model import Status, Verdict
from optimizer.synthesis import answers
from optimizer.synthesis.task import REFERENCE
from optimizer.synthesis.thoughts import Thought

if TYPE_CHECKING:
    from optimizer.interfaces import Model
    from optimizer.synthesis.cutlass import Library

ANSWER_TOKENS = 8_192
# Looks into the library that one line of thought gets before it has to write.
LOOKS = 6
MOST_LOG = 2_400


class Line:
    """A line of thought under way: a dialogue, and how often it was mended."""

    def __init__(self, thought: Thought, said: str, library: Library | None = None) -> None:
        self.thought, self.library = thought, library
        self.messages = [Message(Speaker.SYSTEM, _rules()), _user(said)]
        self.repair = 0
        self.answer: Answer | None = None
        self.draft = answers.Draft()
        self.usage = Usage()
        self.failure = ""

    def ask(self, model: Model, limit: int, *, tunable: bool) -> None:
        """Get an answer, looking into the library as often as it wishes and may."""
        looking = self.library is not None
        for round_ in range(LOOKS + 1):
            may_look = looking and round_ < LOOKS
            self.answer = self._answer(model, answers.schema(looking=may_look), limit)
            self.usage = self.usage + self.answer.usage
            self.messages.append(Message(Speaker.ASSISTANT, self.answer.text))
            self.draft = answers.read(self.answer.text, tunable=tunable, looking=may_look)
            if self.answer.refusal:
                self.draft = answers.Draft(trouble=f"the model declined: {self.answer.refusal}")
            if not self.draft.looks or self.library is None:
                return
            self.messages.append(_user(self.library.look(self.draft.looks)))

    def _answer(self, model: Model, schema: Schema, limit: int) -> Answer:
        """Ask, and once more with less where the prompt does not fit the model's context."""
        while True:
            try:
                return model.ask(self.messages, schema, limit)
            except PromptTooLong:
                if not self._shrink():
                    raise

    def _shrink(self) -> bool:
        """Leave out, in this order: all turns but the last, then the reference's text."""
        system, opening, *turns = self.messages
        if len(turns) > 2:
            self.messages = [system, opening, *turns[-2:]]
            return True
        text = opening.text
        start, end = text.find(REFERENCE), text.find("\n\nYour line of thought")
        if not 0 < start < end:
            return False
        self.messages[1] = _user(text[:start].rstrip() + text[end:])
        return True

    def complain(self, verdict: Verdict) -> None:
        """Say what was wrong, for the next answer."""
        self.messages.append(_user(complaint(verdict)))
        self.repair += 1


_WRONG: Mapping[Status, str] = {
    Status.REJECTED: "It was not compiled. Mend this and answer in the same form:",
    Status.DOES_NOT_COMPILE: "It does not compile. Mend this and answer in the same form:",
    Status.WRONG_RESULT: "It computes something else than the reference. Find out why, then answer "
    "in the same form:",
    Status.CRASHED: "It crashes. Think of indices beyond the arrays, of what the launch asks for, "
    "and of sizes that are no multiple of the block; answer in the same form:",
    Status.TIMED_OUT: "It does not end. Think of barriers not all threads reach; answer in the "
    "same form:",
    Status.NOT_RECORDED: "It is not in the recording. Answer in the same form:",
    Status.CORRECT: "",
}


def complaint(verdict: Verdict) -> str:
    """Say what is wrong with an answer: the reason, and the log as data."""
    failed = [f"{check.layer}: {check.what}" for check in verdict.checks if not check.passed]
    log = "\n".join((*failed[:5], verdict.log.strip()))[:MOST_LOG]
    return "\n".join((_WRONG[verdict.status], *(f"    | {line}" for line in log.splitlines())))


def _user(text: str) -> Message:
    return Message(Speaker.USER, text)


@functools.cache
def _rules() -> str:
    return files("optimizer").joinpath("prompts/synthesis.txt").read_text(encoding="utf-8")
