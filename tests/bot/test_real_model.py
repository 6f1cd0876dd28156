"""A whole search with a real server and a real model, on the recording of a real GPU.

The model is far too small to write CUDA: what it answers is nonsense, and that is what is tested.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import projects, run
from bot.model_client import Endpoint, ServerModel
from bot.outcome import speedup_of
from bot.settings import Settings
from bot.wiring import Workshop
from optimizer.advice import Advice
from optimizer.model import Status, Step, Trajectory, Verdict
from optimizer.prompting import Scene, View, prompt
from optimizer.spending import tokens_of
from tests.bot import real_model

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "softmax"
CALLS = 2

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
        **changes,  # type: ignore[arg-type]
    )
    ((kernel, workload),) = projects.of_file(EXAMPLE / "softmax.cu", None).kernels
    with Workshop(settings, replay=EXAMPLE / "recording.jsonl.gz") as workshop:
        order = run.Order(kernel, workload, tmp_path / "out")
        finished = run.optimize(order, workshop, lambda _: None, lambda _: None)
    return finished.outcome.trajectory


def test_a_search_with_a_model_that_knows_nothing_ends_where_the_rules_end(
    url: str, tmp_path: Path
) -> None:
    model = {"model": "smollm2", "api_url": url, "model_seconds": 100.0, "judge": "rule"}
    limits = {"calls": CALLS, "prompt_tokens": 1300, "answer_tokens": 24}
    found = searched(tmp_path / "mixed", policy="mixed", **model, **limits)
    rules = searched(tmp_path / "rules", policy="rules")
    assert 0 < found.spending.calls <= CALLS
    assert found.spending.received > 0
    assert found.spending.usd == 0.0
    assert (speedup_of(found.best) or 0) >= (speedup_of(rules.best) or 0) * 0.999
    assert found.winner is not None
    assert "smollm2 at 127.0.0.1" in found.environment.model
    kept = (tmp_path / "mixed" / "out" / "exchanges.jsonl").read_text()
    assert "SmolLM2" in kept
    assert str(ROOT) not in kept


def test_its_tokenizer_counts_no_more_tokens_than_we_do(url: str) -> None:
    ((kernel, workload),) = projects.of_file(EXAMPLE / "softmax.cu", None).kernels
    step = Step(0, None, None, kernel, Verdict(Status.CORRECT))
    said, _ = prompt(Scene(workload), View(step, {0: step}), Advice("k", "Do it."))
    with ServerModel(Endpoint("smollm2", url, seconds=100.0)) as model:
        answer = model.ask(said, limit=1)
    assert 0 < answer.usage.sent <= tokens_of(said)
