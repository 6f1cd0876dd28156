"""How a search scales with the number of GPUs, measured and simulated.

    python benchmarks/scaling.py measure softmax montecarlo --device all --out four.json
    python benchmarks/scaling.py measure softmax --scheduler tcp://127.0.0.1:8786 --out fleet.json
    python benchmarks/scaling.py table one.json two.json four.json
    python benchmarks/scaling.py overhead
    python benchmarks/scaling.py simulate --workers 1 8 64 512

`measure` searches examples on real GPUs (CUDA_VISIBLE_DEVICES says which), or on those behind a
scheduler, and reports evaluations a minute from the first verdict of the unedited kernel to the
last candidate's, counters left out. `overhead` and `simulate` need no GPU: workers answer from a
recording, at once or after the time it took then.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bot import projects, settings
from bot.outcome import summarize
from bot.wiring import Workshop
from optimizer.budget import Budget, SearchSettings
from optimizer.model import Kernel, Status, Step, Verdict, Workload
from optimizer.search import search
from runners.interfaces import Dispatcher, Job

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FREE = {Status.REJECTED, Status.NOT_RECORDED}


class Counting:
    """Passes jobs on and counts them."""

    def __init__(self, inner: Dispatcher) -> None:
        self._inner = inner
        self.jobs = 0

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        """Return what the dispatcher behind returns."""
        self.jobs += len(jobs)
        return self._inner.dispatch(jobs)


def example(name: str) -> tuple[Kernel, Workload]:
    """Return the first kernel of an example, with its workload."""
    (file, *_) = sorted((EXAMPLES / name).glob("*.cu"))
    return projects.of_file(file).kernels[0]


def searched(name: str, shop: Workshop, given: argparse.Namespace) -> dict[str, object]:
    """Search an example and return its row."""
    kernel, workload = example(name)
    marks: list[float] = []
    counting = Counting(shop.dispatcher)
    tools = shop.tools(kernel, workload)
    evaluator = tools.evaluator
    evaluator._dispatcher = counting  # type: ignore[attr-defined]  # noqa: SLF001 - to count
    made = SearchSettings(seed=given.seed, batch=given.batch, profile=False)
    if not given.finals:
        made = replace(made, finalists=0, confirmations=0, shorten=False)

    def on_step(step: Step) -> None:
        marks.append(time.monotonic())
        del step

    begun = time.monotonic()
    found = search(
        kernel,
        workload,
        replace(tools, profile=False),
        Budget(given.evaluations),
        on_step,
        settings=made,
        environment=shop.environment,
    )
    counted = [step for step in found.steps[1:] if step.verdict.status not in FREE]
    reserve = min(5, given.evaluations // 16) if given.finals else 0
    last = min(len(found.steps), given.evaluations - reserve) - 1
    seconds = marks[last] - marks[0]
    width = tools.width if isinstance(tools.width, int) else tools.width()
    gpu_seconds = [
        one.verdict.seconds.get("verify", 0.0) + one.verdict.seconds.get("time", 0.0)
        for one in counted
    ]
    told = summarize(found)
    return {
        "example": name,
        "width": width,
        "batch": given.batch,
        "evaluations": last,
        "sent": counting.jobs,
        "seconds": round(seconds, 2),
        "per_minute": round(60 * last / seconds, 1),
        "whole_seconds": round(time.monotonic() - begun, 2),
        "gpu_seconds": round(statistics.fmean(gpu_seconds), 3) if gpu_seconds else None,
        "fastest_screened": round(max(_speedups(found.steps), default=1.0), 4),
        "headline": told.headline if given.finals else "",
        "stopped": found.stopped,
    }


def _speedups(steps: Sequence[Step]) -> list[float]:
    from optimizer.significance import speedup

    return [fast for step in steps if (fast := speedup(step.verdict.measurement)) is not None]


def measure(given: argparse.Namespace) -> int:
    """Search examples one after the other on the same machines."""
    chosen = settings.load(
        {"device": given.device, "scheduler": given.scheduler, "policy": "rules", "memory": "off"}
    )
    rows = []
    began = time.monotonic()
    with Workshop(chosen, say=lambda words: print(words, flush=True)) as shop:
        while given.gpus and getattr(shop.dispatcher, "gpus", given.gpus) < given.gpus:
            time.sleep(0.2)
        print(f"ready after {time.monotonic() - began:.1f} s", flush=True)
        for name in given.examples:
            row = {"gpus": given.gpus, "through": "dask" if given.scheduler else "local"}
            row.update(searched(name, shop, given))
            rows.append(row)
            print(json.dumps(row), flush=True)
            if given.out:
                given.out.write_text(
                    json.dumps({"gpu": shop.environment.gpu, "rows": rows}, indent=1) + "\n"
                )
    return 0


def table(given: argparse.Namespace) -> int:
    """Print measured rows as a table, each beside the one GPU of the same kind of run."""
    rows = [row for file in given.files for row in json.loads(file.read_text())["rows"]]
    one = {
        (row["example"], row["through"], row["batch"]): row["per_minute"]
        for row in rows
        if row["gpus"] == 1
    }
    print("| example | through | batch | GPUs | evaluations/min | × 1 GPU / N | sent/used |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in sorted(rows, key=lambda r: (r["example"], r["through"], r["batch"], r["gpus"])):
        first = one.get((row["example"], row["through"], row["batch"]))
        share = f"{row['per_minute'] / first / row['gpus']:.2f}" if first else ""
        print(
            f"| {row['example']} | {row['through']} | {row['batch']} | {row['gpus']} "
            f"| {row['per_minute']:.0f} | {share} | {row['sent']}/{row['evaluations']} |"
        )
    return 0


def main() -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("measure")
    one.add_argument("examples", nargs="+", metavar="EXAMPLE")
    one.add_argument("--device", default="all")
    one.add_argument("--scheduler")
    one.add_argument("--gpus", type=int, default=0, help="wait for so many; noted in the rows")
    one.add_argument("--evaluations", type=int, default=64)
    one.add_argument("--batch", type=int, default=16)
    one.add_argument("--seed", type=int, default=0)
    one.add_argument("--finals", action="store_true", help="race, shorten and confirm, too")
    one.add_argument("--out", type=Path)
    one.set_defaults(run=measure)
    two = commands.add_parser("table")
    two.add_argument("files", nargs="+", type=Path)
    two.set_defaults(run=table)
    given = parser.parse_args()
    return int(given.run(given))


if __name__ == "__main__":
    sys.exit(main())
