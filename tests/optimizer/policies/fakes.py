"""A model in this process, a kernel, and its verdict, for tests of policies that ask a model."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence

from optimizer.dialogue import Answer, Message, Schema, Usage
from optimizer.exchange import key_of
from optimizer.interfaces import LatePolicy
from optimizer.model import (
    Case,
    CaseTimes,
    Kernel,
    Kind,
    Launch,
    Measurement,
    Proposal,
    Status,
    Step,
    Verdict,
    Workload,
)

SOURCE = "__global__ void k(float* x, int n)\n{\n    x[0] = n;\n}\n"
WORKLOAD = Workload("k", Kind.KERNEL, "k", cases=(Case({"n": 64}),))
# Seconds after which an answer that was to come counts as lost.
PATIENCE = 60.0

Talk = Callable[[Sequence[Message]], str]


class Fake:
    """A model; `talk` makes answers, or raises, of what is said. Keeps what it was asked.

    `said` and `shapes` hold the messages of each question and the name of its answer's schema.
    """

    name = "fake"

    def __init__(self, talk: Talk) -> None:
        self.talk, self.said, self.shapes = talk, list[tuple[Message, ...]](), list[str]()
        self._lock = threading.Lock()

    def ask(
        self, messages: Sequence[Message], schema: Schema | None = None, limit: int = 4096
    ) -> Answer:
        with self._lock:
            self.said.append(tuple(messages))
            self.shapes.append(schema.name if schema else "")
        text = self.talk(messages)
        usage = Usage(sent=10, received=5, usd=0.01, calls=1)
        return Answer(text, "fake-1", usage, digest=key_of("fake", messages, schema, limit))

    @property
    def tasks(self) -> list[str]:
        """Return what each question ends with: its own advice."""
        return [said[1].text.rsplit("# Your task\n", 1)[1] for said in self.said]


def measured(ratio: float, instructions: Mapping[str, int] | None = None) -> Verdict:
    times = CaseTimes("n=64", (100.0 / ratio,) * 8, (100.0,) * 8)
    measurement = Measurement((times,), "GPU", {"k": 1.0})
    return Verdict(Status.CORRECT, measurement, instructions=instructions or {})


def root(
    launch: Launch | None = None,
    source: str = SOURCE,
    instructions: Mapping[str, int] | None = None,
) -> Step:
    return Step(0, None, None, Kernel("k", source, "k.cu", launch), measured(1.0, instructions))


def all_of(policy: LatePolicy) -> list[Proposal]:
    """Return everything that is under way, once it is there."""
    found: list[Proposal] = []
    while arrived := policy.arrived(PATIENCE):
        found += [proposal for _, proposals in arrived for proposal in proposals]
    return found
