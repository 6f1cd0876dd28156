"""How long it takes to render a search and to post it, and how many requests that costs.

No GPU is needed: the searches are made up, GitHub is the stateful fake on loopback. What is timed
is ours: holding the result against GitHub's texts, composing, posting comment and suggestions.

    python benchmarks/publishing.py --json benchmarks/results/publishing.json
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from bot.comment import LIMIT, compose  # noqa: E402
from bot.interfaces import Change, Reviewed  # noqa: E402
from bot.markdown import length  # noqa: E402
from bot.suggestion import Hunk  # noqa: E402
from tests.bot import synthetic  # noqa: E402
from tests.bot.world import NAME, World, pull_of, report_for  # noqa: E402

STEPS = 300
UNCOUNTED = ("/access_tokens", "/installation", "/app", "/users/")


def milliseconds(work: Callable[[], object], times: int) -> list[float]:
    """Return how long each of several runs takes, the first, which warms up, left out."""
    work()
    found = []
    for _ in range(times):
        began = time.perf_counter()
        work()
        found.append((time.perf_counter() - began) * 1e3)
    return found


def said(values: list[float]) -> dict[str, float]:
    return {
        "median_ms": round(statistics.median(values), 2),
        "most_ms": round(max(values), 2),
        "runs": len(values),
    }


def rendered(times: int) -> dict[str, object]:
    """Render comments of large searches: one kernel, one that fits no diff, and twelve kernels."""
    found = synthetic.trajectory(STEPS - 4)
    change = Change(found.baseline.kernel, found.workload, hunks=(Hunk(1, 11),))
    one = Reviewed(change, found, synthetic.verdict(0.8, profiled=False))
    outside = Reviewed(Change(found.baseline.kernel, found.workload), found)
    figures: dict[str, object] = {}
    for name, results in (
        ("one kernel, suggestions", [one]),
        ("one kernel, folded diff", [outside]),
        ("twelve kernels", [one] * 12),
    ):
        text = compose(results).markdown or ""
        assert length(text) <= LIMIT
        figures[name] = {
            **said(milliseconds(lambda results=results: compose(results), times)),  # type: ignore[misc]
            "steps": len(found.steps) * len(results),
            "characters": length(text),
        }
    return figures


def posted(times: int) -> dict[str, object]:
    """Publish and apply on the fake, each time on a pull request of its own."""
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder))
        try:
            hub = world.hub()
            publishing, applying, publish_calls, apply_calls = [], [], [], []
            for number in range(times + 1):
                world.fake.state.ahead += 61
                one = world.change(f"change-{number}")
                report = report_for(hub, one, extra=STEPS - 4)
                before, began = calls(world), time.perf_counter()
                hub.forge(NAME, one.number).publish(pull_of(one), report)
                publishing.append((time.perf_counter() - began) * 1e3)
                publish_calls.append(calls(world) - before)
                before, began = calls(world), time.perf_counter()
                hub.apply(NAME, one.number, report.results[0], head=one.head)
                applying.append((time.perf_counter() - began) * 1e3)
                apply_calls.append(calls(world) - before)
        finally:
            world.close()
    return {
        "result to comment and suggestions": {
            **said(publishing[1:]),
            "requests": max(publish_calls),
        },
        "three edits to three commits": {**said(applying[1:]), "requests": max(apply_calls)},
    }


def calls(world: World) -> int:
    """Count requests, those for tokens and our own name left out: they are not for one review."""
    return sum(not any(word in one.path for word in UNCOUNTED) for one in world.fake.calls)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--json", type=Path, default=None)
    given = parser.parse_args()
    figures = {
        "rendering": rendered(given.times),
        "posting": posted(max(1, given.times // 2)),
        "python": platform.python_version(),
        "machine": platform.machine(),
    }
    text = json.dumps(figures, indent=1)
    print(text)
    if given.json is not None:
        given.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
