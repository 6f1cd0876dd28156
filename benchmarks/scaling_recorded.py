"""Workers that answer from a recording, through a scheduler: what that costs, and how far it goes.

`scaling.py overhead` and `scaling.py simulate` run this.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import copy
import gzip
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import psutil  # type: ignore[import-untyped]
from scaling_watch import Counting

from bot import projects
from optimizer import plugins
from optimizer.boundary import violations
from optimizer.budget import Budget, SearchSettings
from optimizer.diagnosis import Diagnosis
from optimizer.model import Kernel, Verdict, Workload
from optimizer.policies.rules import RulePolicy
from optimizer.search import search
from optimizer.tools import Tools
from optimizer.tuning import tune
from runners.evaluator import DispatchedEvaluator
from runners.fleet import DaskDispatcher, Patience
from runners.fleet_worker import Bench, Card, serve
from runners.interfaces import Job
from runners.wire import verdict_from_dict

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def example(name: str) -> tuple[Kernel, Workload]:
    """Return the first kernel of an example, with its workload."""
    (file, *_) = sorted((EXAMPLES / name).glob("*.cu"))
    return projects.of_file(file).kernels[0]


class Recorded:
    """Answers every candidate with a verdict of a recording, drawn by its digest, after a time."""

    def __init__(self, name: str, seconds: float) -> None:
        packed = (EXAMPLES / name / "recording.jsonl.gz").read_bytes()
        lines = gzip.decompress(packed).decode().splitlines()
        found = [json.loads(line)["verdict"] for line in lines[1:]]
        self._known = [verdict_from_dict(one) for one in found if one["status"] == "correct"]
        self._seconds = seconds
        self._gpu = threading.Lock()

    def another(self) -> Recorded:
        """Return the same on another GPU."""
        found = copy.copy(self)
        found._gpu = threading.Lock()  # noqa: SLF001 - its own class
        return found

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        """Return a verdict for each job, one after the other."""
        with self._gpu:
            time.sleep(self._seconds * len(jobs))
        return [self._verdict(job) for job in jobs]

    def _verdict(self, job: Job) -> Verdict:
        drawn = int(job.kernel.digest, 16)
        if job.kernel == job.baseline:
            drawn = 0
        return replace(self._known[drawn % len(self._known)], machine_code=job.kernel.digest)


async def host(given: argparse.Namespace) -> None:
    """Be many workers in one process: they answer from a recording and hardly compute."""
    answers = Recorded(given.example, given.seconds)
    card = Card("recorded", recorded="recorded")
    folder = Path(tempfile.mkdtemp())

    async def one() -> None:
        await serve(given.scheduler, Bench(answers.another(), card, None, folder), host="127.0.0.1")

    async with asyncio.TaskGroup() as group:
        for _ in range(given.workers):
            group.create_task(one())
            await asyncio.sleep(0.01)


@contextlib.contextmanager
def fleet_of(
    workers: int, example: str, seconds: float
) -> Iterator[tuple[DaskDispatcher, psutil.Process]]:
    """Start a scheduler and workers in processes of their own; yield what they are asked through.

    Also the scheduler's process, for its processor time.
    """
    me = [sys.executable, str(Path(__file__).with_name("scaling.py"))]
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "bot", "scheduler", "--port", "0"],
            stdout=subprocess.PIPE,
        )
    ]  # fmt: skip
    assert started[0].stdout is not None
    address = started[0].stdout.readline().decode().split()[-1]
    try:
        hosts = 1 + workers // 129
        for number in range(hosts):
            share = workers // hosts + (number < workers % hosts)
            arguments = ["host", address, str(share), example, str(seconds)]
            started.append(subprocess.Popen([*me, *arguments]))
        with DaskDispatcher(address, patience=Patience(join=120.0, quiet=60.0)) as fleet:
            begun = time.monotonic()
            while fleet.gpus < workers:
                time.sleep(0.1)
                assert time.monotonic() - begun < 300, f"{fleet.gpus} of {workers} came"
            print(f"{workers} workers joined in {time.monotonic() - begun:.0f} s", flush=True)
            yield fleet, psutil.Process(started[0].pid)
    finally:
        for process in started[::-1]:
            process.kill()
            process.wait(10)
        started[0].stdout.close()


def jobs_of(name: str, count: int) -> list[Job]:
    """Return that many different candidates of an example."""
    kernel, workload = example(name)
    return [
        Job(replace(kernel, source=f"{kernel.source}// {n}\n"), kernel, workload)
        for n in range(count)
    ]


def overhead(given: argparse.Namespace) -> int:
    """Measure what the way through a scheduler adds to an evaluation."""
    row: dict[str, object] = {"host": _host(), "example": given.example}
    jobs = jobs_of(given.example, 4 * given.count)
    with fleet_of(1, given.example, 0.0) as (fleet, _):
        list(fleet.dispatch(jobs[:20]))
        alone = []
        for job in jobs[20 : 20 + given.count // 4]:
            time.sleep(0.02)
            begun = time.perf_counter()
            _ = fleet.dispatch([job])[0]
            alone.append(time.perf_counter() - begun)
        row["alone_ms"] = round(1e3 * statistics.median(alone), 2)
    for workers in (1, 4):
        with fleet_of(workers, given.example, given.seconds) as (fleet, _):
            list(fleet.dispatch(jobs[: 4 * workers]))
            some = jobs[100 : 100 + given.count * workers // 2]
            begun = time.perf_counter()
            list(fleet.dispatch(some))
            each = workers * (time.perf_counter() - begun) / len(some)
            row[f"idle_ms_of_{workers}"] = round(1e3 * (each - given.seconds), 2)
    answers = Recorded(given.example, 0.0)
    begun = time.perf_counter()
    list(answers.dispatch(jobs[: given.count]))
    row["direct_ms"] = round(1e3 * (time.perf_counter() - begun) / given.count, 2)
    print(json.dumps(row))
    return _kept(given, row)


def simulate(given: argparse.Namespace) -> int:
    """Load a scheduler with many workers, then search with them; say where it stops keeping up."""
    rows: list[dict[str, object]] = []
    for workers in given.workers:
        with fleet_of(workers, given.example, given.seconds) as (fleet, scheduler):
            rows.append(_loaded(fleet, scheduler, workers, given))
            print(json.dumps(rows[-1]), flush=True)
            for window in given.windows:
                rows.append(_simulated(fleet, scheduler, workers, window, given))
                print(json.dumps(rows[-1]), flush=True)
    return _kept(given, {"host": _host(), "example": given.example, "rows": rows})


def _loaded(
    fleet: DaskDispatcher, scheduler: psutil.Process, workers: int, given: argparse.Namespace
) -> dict[str, object]:
    """Keep every worker busy for a while with jobs that are there at once."""
    count = max(64, round(workers * given.rounds))
    jobs = jobs_of(given.example, count)
    spent, mine = _cpu(scheduler), time.process_time()
    begun = time.perf_counter()
    list(fleet.dispatch(jobs))
    seconds = time.perf_counter() - begun
    return {
        "what": "load",
        "workers": workers,
        "evaluation_seconds": given.seconds,
        "evaluations": count,
        "per_second": round(count / seconds, 1),
        "asked_per_second": round(workers / given.seconds, 1),
        "share": round(count / seconds * given.seconds / workers, 3),
        "scheduler_ms": round(1e3 * (_cpu(scheduler) - spent) / count, 2),
        "dispatcher_ms": round(1e3 * (time.process_time() - mine) / count, 2),
    }


def _simulated(
    fleet: DaskDispatcher,
    scheduler: psutil.Process,
    workers: int,
    window: int,
    given: argparse.Namespace,
) -> dict[str, object]:
    """Search with the real rules over made-up progress, for a while."""
    kernel, workload = example(given.example)
    evaluations = min(2000, max(120, 4 * max(window, workers)))
    marks: list[float] = []
    counting = Counting(fleet)
    tools = Tools(
        RulePolicy(plugins.rules(), workload.accept),
        DispatchedEvaluator(counting, kernel),
        detectors=(Diagnosis({}),),
        tune=tune,
        boundary=violations,
        width=lambda: fleet.width,
    )
    made = SearchSettings(window=window, finalists=0, confirmations=0, shorten=False, profile=False)
    spent, mine = _cpu(scheduler), time.process_time()
    budget = Budget(evaluations, minutes=given.minutes)
    search(kernel, workload, tools, budget, lambda _: marks.append(time.monotonic()), settings=made)
    count, seconds = len(marks) - 1, marks[-1] - marks[0]
    return {
        "what": "search",
        "workers": workers,
        "window": window,
        "evaluations": count,
        "sent": counting.jobs,
        "per_second": round(count / seconds, 1),
        "busy": round(counting.jobs * given.seconds / seconds / workers, 3),
        "search_ms": round(1e3 * (time.process_time() - mine) / count, 2),
        "scheduler_ms": round(1e3 * (_cpu(scheduler) - spent) / count, 2),
    }


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _host() -> str:
    return f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"


def _kept(given: argparse.Namespace, found: dict[str, object]) -> int:
    if given.out:
        given.out.write_text(json.dumps(found, indent=1) + "\n")
    return 0
