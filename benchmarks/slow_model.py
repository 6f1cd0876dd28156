"""What the GPU does while a language model thinks: the share of that time in which candidates run.

    python benchmarks/slow_model.py tests/data/by_hand/filter2d --delay 0 --delay 5
    python benchmarks/slow_model.py tests/data/by_hand/filter2d --replay RECORDING --batch 1.0

Edits a person wrote are served by a scripted server that takes so long for each answer; there is
no model. A question is open from when the server hears it until it answers. Reported are the
seconds with a question open, in how much of that a candidate was compiled, verified or timed, or
stood in line for it, and how many verdicts came meanwhile. With `--replay` no GPU is touched and a
batch takes as long as is said.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from bot import projects, run
from bot.outcome import speedup_of
from bot.settings import Settings
from bot.wiring import Workshop
from optimizer.interfaces import Underway
from optimizer.model import Trajectory, Verdict
from runners.interfaces import Dispatcher, Job
from tests.scripted_model import AUTHOR, Asked, Reply, ScriptedModel, by_hand, serving

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
Span = tuple[float, float]
# How often it is looked whether a verdict is in, and how long a candidate may take at most, s.
TICK = 0.005
LONGEST = 120.0


@dataclass(slots=True)
class Timed:
    """A dispatcher with a clock: from when to when each candidate was under way."""

    inner: Dispatcher
    batch: float = 0.0
    spans: list[Span] = field(default_factory=list[Span])

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        begun = time.monotonic()
        time.sleep(self.batch)
        found = self.inner.dispatch(jobs)
        if isinstance(found, Underway):
            # Verdicts come one after the other, and nobody looks at one before it is wanted.
            for place in range(len(jobs)):
                threading.Thread(target=self._watch, args=(found, place, begun)).start()
        else:
            self.spans += [(begun, time.monotonic())] * len(jobs)
        return found

    def _watch(self, found: Underway, place: int, begun: float) -> None:
        deadline = begun + LONGEST
        while not found.ready(place) and time.monotonic() < deadline:
            time.sleep(TICK)
        self.spans.append((begun, time.monotonic()))


class Slow:
    """Answers of a folder, each after a delay; knows when a question was open."""

    def __init__(self, folder: Path, delay: float) -> None:
        self.answer, self.delay = by_hand(folder), delay
        self.spans: list[Span] = []
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> Reply:
        begun = time.monotonic()
        with self._lock:
            self.spans.append((begun, begun + self.delay))
        return replace(self.answer(asked), delay=self.delay)


def joined(spans: Sequence[Span]) -> list[Span]:
    """Return spans as ones that do not overlap."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return found


def overlap(one: Sequence[Span], two: Sequence[Span]) -> float:
    """Return the seconds that lie in both."""
    return sum(
        max(0.0, min(a[1], b[1]) - max(a[0], b[0])) for a in joined(one) for b in joined(two)
    )


@contextmanager
def machine(
    settings: Settings, replay: Path | None, batch: float
) -> Iterator[tuple[Workshop, Timed]]:
    """Give a workshop whose dispatcher is timed."""
    with Workshop(settings, replay=replay) as inner:
        timed = Timed(inner.dispatcher, batch)
        source = replace(inner.source, dispatcher=timed)
        with Workshop(settings, source=source) as shop:
            yield shop, timed


def measured(folder: Path, delay: float, arguments: argparse.Namespace) -> dict[str, object]:
    """Run one search with a model as slow as that; the figures of a row."""
    file = EXAMPLES / folder.name / f"{folder.name}.cu"
    slow = Slow(folder, delay)
    with serving(ScriptedModel(slow, AUTHOR)) as url, tempfile.TemporaryDirectory() as out:
        settings = Settings(
            policy=arguments.policy, model="hand-written-edits", api_url=url, judge="rule",
            evaluations=arguments.evaluations, memory="off", model_cache="off",
            device=arguments.device, minutes=arguments.minutes,
            cache=str(arguments.cache or Path(out) / "cache"),
        )  # fmt: skip
        with machine(settings, arguments.replay, arguments.batch) as (shop, timed):
            ((kernel, workload),) = projects.of_file(file, None).kernels
            order = run.Order(kernel, workload, Path(out) / "out")
            begun = time.monotonic()
            found = run.optimize(order, shop, lambda _: None, lambda _: None).outcome.trajectory
            ended = time.monotonic()
    open_ = joined([(a, min(b, ended)) for a, b in slow.spans if a < ended])
    seconds = sum(b - a for a, b in open_)
    return {
        "kernel": folder.name,
        "policy": arguments.policy,
        "delay_s": delay,
        "questions": len(slow.spans),
        "open_s": round(seconds, 2),
        "busy_share": round(overlap(open_, timed.spans) / seconds, 3) if seconds else None,
        "verdicts_meanwhile": sum(any(a <= at <= b for a, b in open_) for _, at in timed.spans),
        "candidates": len(found.steps) - 1,
        "search_s": round(ended - begun, 1),
        "first_of_the_model": first_of_the_model(found),
        "speedup": round(speedup_of(found.best) or 1.0, 2),
        "winner": found.winner is not None,
        "gpu": found.environment.gpu,
        "recorded": bool(arguments.replay),
    }


def first_of_the_model(found: Trajectory) -> int | None:
    """Return the number of the first candidate that came of an answer."""
    by_model = [s.number for s in found.steps if s.edit and s.edit.author.startswith("llm:")]
    return by_model[0] if by_model else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--delay", action="append", type=float, help="seconds of an answer")
    parser.add_argument("--policy", default="mixed", choices=["mixed", "llm"])
    parser.add_argument("--evaluations", type=int, default=40)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--batch", type=float, default=0.0, help="seconds of a recorded batch")
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = []
    for folder in arguments.folders:
        for delay in arguments.delay or [0.0, 5.0]:
            rows.append(measured(folder, delay, arguments))
            print(json.dumps(rows[-1]), flush=True)
            if arguments.out:
                arguments.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
