"""Compare kernels with themselves: nothing may be called faster.

    python benchmarks/aa.py --runs 1000 --minutes 7 --out results
    python benchmarks/aa.py --examples --runs 200 --minutes 4 --out results

Each run loads a kernel twice and compares it with itself by the timer and the decision that a
search uses for its finalists, at the default settings (benchmarks/timed_kernels.py). The first
form takes ten kernels from 3 µs to 30 ms, the second five of the examples on their timed cases.
Every run has a seed, and so data, of its own; kernels take turns, so that all are sampled over the
whole session. `aa.json` holds every ratio with its interval, `aa.md` what they amount to. The exit
status is 1 if more than one win was claimed.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import shlex
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from timed_kernels import Compared, Timer, chosen, device_timer

from optimizer.model import Effort
from optimizer.significance import Decision
from runners.interfaces import Job
from runners.wire import job_to_dict
from runners.workload import read_project

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ("softmax", "nchw_to_nhwc", "planck", "reduction", "histogram")
# Data are made on the host and uploaded once a seed; a few seeds a kernel keep that out of the way.
SEEDS = 5
COLUMNS = (
    "kernel", "time", "runs", "called faster", "called slower", "interval without 1",
    "median ratio", "farthest from 1", "widest interval", "median s",
)  # fmt: skip


def example(name: str, seed: int) -> dict[str, Any]:
    """Return the job that compares an example with itself on the cases that are timed."""
    kernel, workload = read_project(ROOT / "examples" / name / ".optiml.yml").kernels()[0]
    job = job_to_dict(Job(kernel, kernel, workload, "cuda:0", Effort.RACE, seed))
    timed = [case for case in job["workload"]["cases"] if case["time"]]
    job["workload"] = {**job["workload"], "cases": timed, "name": name, "reference": None}
    return job


def summary(trials: Mapping[str, Sequence[Compared]], facts: str) -> str:
    """Write what the trials amount to, as Markdown."""
    lines = [
        "# Kernels against themselves",
        "",
        facts,
        "",
        f"| {' | '.join(COLUMNS)} |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, mine in trials.items():
        if not mine:
            continue
        far = max(abs(one.estimate - 1) for one in mine)
        wide = max((one.high - one.low) / 2 for one in mine)
        lines.append(
            f"| {name} | {shown(statistics.median(one.candidate_us for one in mine))} "
            f"| {len(mine)} | {count(mine, Decision.FASTER)} | {count(mine, Decision.SLOWER)} "
            f"| {sum(bool(one.detected) for one in mine)} "
            f"| {statistics.median(one.estimate for one in mine):.4f} | {100 * far:.2f} % "
            f"| ± {100 * wide:.2f} % | {statistics.median(one.seconds for one in mine):.2f} |"
        )
    every = [one for mine in trials.values() for one in mine]
    wins = count(every, Decision.FASTER)
    return "\n".join([*lines, "", f"{len(every)} runs, {wins} wins claimed.", ""])


def shown(us: float) -> str:
    """Write a time with its unit."""
    return f"{us:.1f} µs" if us < 1000 else f"{us / 1000:.1f} ms"


def count(trials: Sequence[Compared], decision: Decision) -> int:
    """Count the trials that came to a decision."""
    return sum(one.decision == decision.value for one in trials)


def provenance(timer: Timer, script: str, seconds: float) -> str:
    """Say on what, when and by which command figures came about."""
    facts = timer.gpu.facts
    today = dt.datetime.now(dt.UTC).date().isoformat()
    command = shlex.join(["python", f"benchmarks/{script}", *sys.argv[1:]])
    return (
        f"{facts['gpu']}, driver {facts.get('driver', '?')}, {today}, {seconds:.0f} s; `{command}`"
    )


def run(
    timer: Timer, jobs: Mapping[str, Sequence[dict[str, Any]]], runs: int, minutes: float
) -> dict[str, list[Compared]]:
    """Compare each kernel with itself, in turns, until the runs are done or the time is up."""
    trials: dict[str, list[Compared]] = {name: [] for name in jobs}
    began = time.monotonic()
    for turn in range(-(-runs // len(jobs))):
        for name, seeds in jobs.items():
            if time.monotonic() - began > 60 * minutes:
                return trials
            trials[name].append(timer.compare(seeds[turn % len(seeds)]))
        if turn % 10 == 0:
            spent = time.monotonic() - began
            print(f"[{spent:.0f} s] {sum(map(len, trials.values()))} runs", flush=True)
    return trials


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    parser.add_argument("--examples", action="store_true", help="five examples, their timed cases")
    parser.add_argument("--runs", type=int, default=1000, help="of all kernels together")
    parser.add_argument("--minutes", type=float, default=30.0, help="stop early after so long")
    parser.add_argument("--device", type=int, default=0, help="number of the GPU")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    options = parser.parse_args()

    if options.examples:
        names = options.kernels or EXAMPLES
        jobs = {name: [example(name, seed) for seed in range(1, SEEDS + 1)] for name in names}
    else:
        jobs = {
            subject.name: [subject.job(seed=seed) for seed in range(1, SEEDS + 1)]
            for subject in chosen(options.kernels)
        }
    options.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="optiml-aa-") as scratch:
        timer = device_timer(options.device, Path(scratch))
        timer.build(job for seeds in jobs.values() for job in seeds)
        print(f"[{time.monotonic() - began:.0f} s] compiled", flush=True)
        trials = run(timer, jobs, options.runs, options.minutes)
        facts = provenance(timer, "aa.py", time.monotonic() - began)
    text = summary(trials, facts)
    (options.out / "aa.md").write_text(text, encoding="utf-8")
    data = {
        "provenance": facts,
        "trials": {name: [asdict(one) for one in mine] for name, mine in trials.items()},
    }
    (options.out / "aa.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    print(text)
    return 1 if count([t for mine in trials.values() for t in mine], Decision.FASTER) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
