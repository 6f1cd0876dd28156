"""How a search scales with the number of GPUs, measured and simulated.

    python benchmarks/scaling.py measure softmax montecarlo --device all --out four.json
    python benchmarks/scaling.py measure softmax --scheduler tcp://127.0.0.1:8786 --out fleet.json
    python benchmarks/scaling.py table one.json two.json four.json
    python benchmarks/scaling.py best one.json four.json
    python benchmarks/scaling.py overhead
    python benchmarks/scaling.py simulate --workers 1 8 64 512

`measure` searches examples on real GPUs (CUDA_VISIBLE_DEVICES says which), or on those behind a
scheduler, and reports evaluations a minute from the first verdict of the unedited kernel to the
last candidate's, counters left out. `overhead` and `simulate` need no GPU: workers answer from a
recording, at once or after the time it took then.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from scaling_recorded import example, host, overhead, simulate
from scaling_tables import FREE, best, table
from scaling_watch import Counting, idle_for, in_use, line_watched, seats_watched

from bot import settings
from bot.outcome import summarize
from bot.wiring import Workshop
from optimizer.budget import Budget, SearchSettings, Stopped, window_for
from optimizer.model import Step
from optimizer.search import search
from optimizer.significance import speedup

# What a row has for each candidate and each job of a GPU: kept in the file, not printed.
LONG = ("candidates", "jobs")
PARTS = ("compile", "oracle", "verify", "time")


def searched(name: str, shop: Workshop, given: argparse.Namespace) -> dict[str, object]:
    """Search an example and return its row."""
    kernel, workload = example(name)
    marks: list[float] = []
    counting = Counting(shop.dispatcher)
    tools = shop.tools(kernel, workload)
    evaluator = tools.evaluator
    evaluator._dispatcher = counting  # type: ignore[attr-defined]  # noqa: SLF001 - to count
    window = given.window
    if window < 0:
        window = window_for(given.gpus or 1, given.evaluations)
    made = SearchSettings(seed=given.seed, window=window, profile=False)
    if not given.finals:
        made = replace(made, finalists=0, confirmations=0, shorten=False)

    def on_step(step: Step) -> None:
        marks.append(time.monotonic())
        del step

    begun = time.monotonic()
    cpu = time.process_time()
    with seats_watched() as asked, line_watched() as lined:
        found = search(
            kernel,
            workload,
            replace(tools, profile=False),
            Budget(given.evaluations),
            on_step,
            settings=made,
            environment=shop.environment,
        )
    cpu = time.process_time() - cpu
    counted = [step for step in found.steps[1:] if step.verdict.status not in FREE]
    reserve = min(5, given.evaluations // 16) if given.finals else 0
    last = min(len(found.steps), given.evaluations - reserve) - 1
    seconds = marks[last] - marks[0]
    width = tools.width if isinstance(tools.width, int) else tools.width()
    parts = {
        part: round(statistics.fmean(one.verdict.seconds.get(part, 0.0) for one in counted), 3)
        for part in PARTS
        if counted
    }
    told = summarize(found)
    half = last // 2
    return {
        "example": name,
        "width": width,
        "window": window,
        "evaluations": last,
        "sent": counting.jobs,
        "seconds": round(seconds, 2),
        "per_minute": _rate(last, seconds),
        "first_verdict_seconds": round(marks[0] - begun, 2),
        "first_half_per_minute": _rate(half, marks[half] - marks[0]),
        "steady_per_minute": _rate(last - half, marks[last] - marks[half]),
        "search_cpu_share": round(cpu / (time.monotonic() - begun), 3),
        "gpus_in_use": in_use(asked, marks[0], marks[last]),
        "idle_for": idle_for(lined, marks[0], marks[last]),
        "whole_seconds": round(time.monotonic() - begun, 2),
        "mean_seconds": parts,
        "fastest_screened": round(max(_speedups(found.steps), default=1.0), 4),
        "headline": told.headline if given.finals else "",
        "stopped": found.stopped,
        "candidates": [
            [
                step.kernel.digest[:8],
                step.verdict.status.value,
                round(at - marks[0], 3),
                *(round(step.verdict.seconds.get(part, 0.0), 3) for part in PARTS),
                round(speedup(step.verdict.measurement) or 0.0, 3),
            ]
            for step, at in zip(found.steps, marks, strict=False)
        ],
        "jobs": [
            [
                one.thread,
                *(
                    round(at - marks[0], 3)
                    for at in (one.joined, one.compiled, one.taken, one.ended)
                ),
            ]
            for one in sorted(lined, key=lambda one: one.taken)
        ],
    }


def _rate(count: int, seconds: float) -> float:
    return round(60 * count / seconds, 1) if count and seconds > 0 else 0.0


def _speedups(steps: Sequence[Step]) -> list[float]:
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
            short = {key: value for key, value in row.items() if key not in LONG}
            print(json.dumps(short), flush=True)
            if given.out:
                given.out.write_text(
                    json.dumps({"gpu": shop.environment.gpu, "rows": rows}, indent=1) + "\n"
                )
            if row["stopped"] == Stopped.INTERRUPTED:
                break
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
    one.add_argument("--window", type=int, default=8, help="0: batches; -1: as for so many GPUs")
    one.add_argument("--seed", type=int, default=0)
    one.add_argument("--finals", action="store_true", help="race, shorten and confirm, too")
    one.add_argument("--out", type=Path)
    one.set_defaults(run=measure)
    two = commands.add_parser("table")
    two.add_argument("files", nargs="+", type=Path)
    two.set_defaults(run=table)
    named = commands.add_parser("best")
    named.add_argument("files", nargs="+", type=Path)
    named.set_defaults(run=best)
    three = commands.add_parser("overhead")
    three.add_argument("--example", default="spmv")
    three.add_argument("--count", type=int, default=200)
    three.add_argument("--seconds", type=float, default=0.1)
    three.add_argument("--out", type=Path)
    three.set_defaults(run=overhead)
    four = commands.add_parser("simulate")
    four.add_argument("--example", default="matmul")
    four.add_argument("--workers", type=int, nargs="+", default=[1, 8, 64, 512])
    four.add_argument("--windows", type=int, nargs="*", default=[16, 128])
    four.add_argument("--seconds", type=float, default=1.0, help="what an evaluation takes")
    four.add_argument("--rounds", type=float, default=4.0, help="jobs for each worker")
    four.add_argument("--minutes", type=float, default=1.0)
    four.add_argument("--out", type=Path)
    four.set_defaults(run=simulate)
    five = commands.add_parser("host", help="what `simulate` starts")
    five.add_argument("scheduler")
    five.add_argument("workers", type=int)
    five.add_argument("example")
    five.add_argument("seconds", type=float)
    five.set_defaults(run=lambda one: asyncio.run(host(one)) or 0)
    given = parser.parse_args()
    return int(given.run(given))


if __name__ == "__main__":
    sys.exit(main())
