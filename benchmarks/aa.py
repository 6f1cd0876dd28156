"""Compare kernels with themselves: nothing may be called faster.

    python benchmarks/aa.py --runs 200 --minutes 9 --out results

Five examples are each measured against themselves, every run with a seed of its own, by the timer
and the decision that a search uses for its finalists (`Effort.RACE`, `significance.decide`). Only
timed cases are run, and the numpy references are left out: this is about time. `aa.json` holds
every ratio with its interval, `aa.md` what they amount to. The exit status is 1 if a win or a loss
was claimed, or if a run gave no measurement.
"""

from __future__ import annotations

import argparse
import json
import math
import shlex
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from bot import settings
from bot.wiring import Workshop
from optimizer.model import Effort, Kernel, Verdict, Workload
from optimizer.significance import Decision, decide, interval
from runners.interfaces import Job
from runners.workload import read_project

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ("softmax", "nchw_to_nhwc", "planck", "reduction", "histogram")


@dataclass(frozen=True, slots=True)
class Trial:
    """One comparison of a kernel with itself. `failure` says why there is no ratio."""

    kernel: str
    seed: int
    decision: str = ""
    ratio: float = math.nan
    low: float = math.nan
    high: float = math.nan
    blocks: int = 0
    failure: str = ""


def subject(name: str) -> tuple[Kernel, Workload]:
    """Return an example's kernel with only the cases that are timed."""
    kernel, workload = read_project(ROOT / "examples" / name / ".optiml.yml").kernels()[0]
    timed = tuple(case for case in workload.cases if case.time)
    return kernel, replace(workload, cases=timed, reference=None)


def trial(job: Job, verdict: Verdict) -> Trial:
    """Return what a verdict says of a kernel compared with itself."""
    name, measurement = job.workload.name, verdict.measurement
    whole = interval(measurement, job.workload.accept.confidence)
    if measurement is None or whole is None:
        return Trial(name, job.seed, failure=f"{verdict.status.value}: {verdict.log[-200:]}")
    return Trial(
        name,
        job.seed,
        decide(measurement, job.workload.accept).value,
        whole.estimate,
        whole.low,
        whole.high,
        min(len(case.candidate_us) for case in measurement.cases),
    )


def summary(trials: Sequence[Trial], facts: str) -> str:
    """Write what the trials amount to, as Markdown."""
    lines = [
        "# Kernels against themselves",
        "",
        facts,
        "",
        "| kernel | runs | called faster | called slower | median ratio | farthest from 1 | widest interval |",  # noqa: E501
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name in dict.fromkeys(one.kernel for one in trials):
        mine = [one for one in trials if one.kernel == name]
        good = [one for one in mine if not one.failure]
        if not good:
            lines.append(f"| {name} | {len(mine)} | no measurement: {mine[0].failure} | | | | |")
            continue
        ratios = [one.ratio for one in good]
        far = max(abs(ratio - 1) for ratio in ratios)
        wide = max((one.high - one.low) / 2 for one in good)
        lines.append(
            f"| {name} | {len(mine)} | {count(good, Decision.FASTER)} "
            f"| {count(good, Decision.SLOWER)} | {statistics.median(ratios):.4f} "
            f"| {100 * far:.2f} % | ± {100 * wide:.2f} % |"
        )
    claimed = count(trials, Decision.FASTER)
    return "\n".join([*lines, "", f"{len(trials)} runs, {claimed} wins claimed.", ""])


def count(trials: Sequence[Trial], decision: Decision) -> int:
    """Count the trials that came to a decision."""
    return sum(one.decision == decision.value for one in trials)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kernels", nargs="*", default=KERNELS, metavar="EXAMPLE")
    parser.add_argument("--runs", type=int, default=200, help="of all kernels together")
    parser.add_argument("--minutes", type=float, default=30.0, help="stop early after so long")
    parser.add_argument("--device", default="all", help="cuda:N, or all GPUs of this host")
    parser.add_argument("--out", type=Path, required=True, help="folder for the results")
    options = parser.parse_args()

    subjects = [subject(name) for name in options.kernels]
    trials: list[Trial] = []
    began = time.monotonic()
    with Workshop(settings.load({"device": options.device}), say=print) as workshop:
        # One run of every kernel at a time, so that all are sampled over the whole session.
        for seed in range(1, options.runs // len(subjects) + 1):
            if time.monotonic() - began > 60 * options.minutes:
                break
            jobs = [
                Job(kernel, kernel, workload, "cuda:0", Effort.RACE, seed)
                for kernel, workload in subjects
            ]
            verdicts = workshop.dispatcher.dispatch(jobs)
            trials += [trial(job, verdict) for job, verdict in zip(jobs, verdicts, strict=True)]
        seen = workshop.environment
    facts = (
        f"{seen.gpu}, driver {seen.driver}, CUDA {seen.toolkit}, {seen.date}, "
        f"{time.monotonic() - began:.0f} s; "
        f"`{shlex.join(['python', 'benchmarks/aa.py', *sys.argv[1:]])}`"
    )
    text = summary(trials, facts)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "aa.md").write_text(text, encoding="utf-8")
    data = {"provenance": facts, "trials": [asdict(one) for one in trials]}
    (options.out / "aa.json").write_text(json.dumps(data, indent=1), encoding="utf-8")
    print(text)
    wrong = count(trials, Decision.FASTER) + count(trials, Decision.SLOWER)
    return 1 if wrong or any(one.failure for one in trials) else 0


if __name__ == "__main__":
    sys.exit(main())
