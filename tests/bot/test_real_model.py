"""A whole search with a real server and a real model, on the recording of a real GPU.

The model is far too small to write CUDA: what it answers is nonsense, and that is what is tested.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from bot import projects, run
from bot.model_client import Endpoint, ServerModel
from bot.outcome import speedup_of
from bot.settings import Settings
from bot.wiring import Workshop
from optimizer.boundary import violations
from optimizer.dialogue import Answer, Message, Schema
from optimizer.interfaces import Model
from optimizer.model import Case, Kernel, Kind, Status, Step, Trajectory, Verdict, Workload
from optimizer.policies.llm import Habits, LanguageModelPolicy
from optimizer.prompting import Scene
from optimizer.spending import tokens_of
from tests.bot import real_model

ROOT = Path(__file__).resolve().parents[2]
# The example with the shortest file and few candidates in its recording.
EXAMPLE = ROOT / "examples" / "nchw_to_nhwc"
# One call is allowed and no second one: the search asks four questions at once, and repairs none.
CALLS = 1
# More than were recorded: a replayed search is over long before the model has read its prompt, and
# waits for it only when nothing else is left to try.
EVALUATIONS = 1000

pytestmark = [
    pytest.mark.skipif(real_model.weights() is None, reason=real_model.MISSING),
    pytest.mark.timeout(280),
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with real_model.serving() as address:
        yield address


def searched(tmp_path: Path, **changes: object) -> Trajectory:
    settings = Settings(
        cache=str(tmp_path / "cache"),
        memory="off",
        evaluations=EVALUATIONS,
        **changes,  # type: ignore[arg-type]
    )
    ((kernel, workload),) = projects.of_file(EXAMPLE / f"{EXAMPLE.name}.cu", None).kernels
    with Workshop(settings, replay=EXAMPLE / "recording.jsonl.gz") as workshop:
        order = run.Order(kernel, workload, tmp_path / "out")
        finished = run.optimize(order, workshop, lambda _: None, lambda _: None)
    return finished.outcome.trajectory


def test_a_search_with_a_model_that_knows_nothing_ends_where_the_rules_end(
    url: str, tmp_path: Path
) -> None:
    model = {"model": "smollm2", "api_url": url, "model_seconds": 100.0, "judge": "rule"}
    limits = {"calls": CALLS, "prompt_tokens": 1300, "answer_tokens": 24, "feedback": "none"}
    found = searched(tmp_path / "mixed", policy="mixed", **model, **limits)
    rules = searched(tmp_path / "rules", policy="rules")
    assert found.spending.calls == CALLS
    assert any("budget for the model is used up: calls" in note for note in found.notes)
    assert found.spending.received > 0
    assert found.spending.usd == 0.0
    assert (speedup_of(found.best) or 0) >= (speedup_of(rules.best) or 0) * 0.999
    assert found.winner is not None
    assert "smollm2 at 127.0.0.1" in found.environment.model
    kept = (tmp_path / "mixed" / "out" / "exchanges.jsonl").read_text()
    assert "SmolLM2" in kept
    assert str(ROOT) not in kept


class Overheard:
    """The server's model, and all that was said to it and answered."""

    def __init__(self, inner: Model) -> None:
        self.inner, self.name = inner, inner.name
        self.exchanges: list[tuple[tuple[Message, ...], Answer]] = []

    def ask(
        self, messages: Sequence[Message], schema: Schema | None = None, limit: int = 4096
    ) -> Answer:
        answer = self.inner.ask(messages, schema, limit)
        self.exchanges.append((tuple(messages), answer))
        return answer


def test_nonsense_goes_back_once_with_the_reason_and_is_then_given_up(url: str) -> None:
    source = "__global__ void k(float* x, int n)\n{\n    x[0] = n;\n}\n"
    workload = Workload("k", Kind.KERNEL, "k", cases=(Case({"n": 64}),))
    step = Step(0, None, None, Kernel("k", source, "k.cu"), Verdict(Status.CORRECT))
    with ServerModel(Endpoint("smollm2", url, seconds=100.0)) as server:
        model = Overheard(server)
        policy = LanguageModelPolicy(
            model, Scene(workload), violations, habits=Habits(width=1, answer_tokens=16)
        )
        policy.observe(step)
        policy.propose(step, (), 4)
        ((number, proposals),) = policy.arrived(200.0)
        policy.close()
    assert number == 0
    assert list(proposals) == []  # 16 tokens hold no edit, whatever they say
    first, second = model.exchanges
    assert second[0][:2] == first[0]
    assert "Your edit was refused" in second[0][-1].text
    for said, answer in model.exchanges:  # its tokenizer counts no more tokens than we do
        assert 0 < answer.usage.sent <= tokens_of(said)
        assert 0 < answer.usage.received <= 16
