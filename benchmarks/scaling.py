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
import contextlib
import copy
import gzip
import itertools
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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from bot import projects, settings
from bot.outcome import summarize
from bot.wiring import Workshop
from optimizer import plugins
from optimizer.boundary import violations
from optimizer.budget import Budget, SearchSettings, Stopped, window_for
from optimizer.diagnosis import Diagnosis
from optimizer.model import Kernel, Status, Step, Verdict, Workload
from optimizer.policies.rules import RulePolicy
from optimizer.search import search
from optimizer.significance import speedup
from optimizer.tools import Tools
from optimizer.tuning import tune
from runners.evaluator import DispatchedEvaluator
from runners.fleet import DaskDispatcher, Patience
from runners.fleet_worker import Bench, Card, serve
from runners.interfaces import Dispatcher, Job
from runners.line import Compiled, Line
from runners.seat import Seat
from runners.wire import verdict_from_dict

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FREE = {Status.REJECTED, Status.NOT_RECORDED}
# What a row has for each candidate and each job of a GPU: kept in the file, not printed.
LONG = ("candidates", "jobs")
PARTS = ("compile", "oracle", "verify", "time")


class Counting:
    """Passes jobs on and counts them."""

    def __init__(self, inner: Dispatcher) -> None:
        self._inner = inner
        self.jobs = 0

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        """Return what the dispatcher behind returns."""
        self.jobs += len(jobs)
        return self._inner.dispatch(jobs)

    def expect(self, jobs: Sequence[Job]) -> bool:
        """Have the dispatcher behind begin what is not asked for yet, where it can."""
        expect = getattr(self._inner, "expect", None)
        return expect is not None and bool(expect(jobs))


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


@contextlib.contextmanager
def seats_watched() -> Iterator[list[tuple[int, float, float]]]:
    """Yield a list that fills with each request to a GPU of this host: its index, begin and end."""
    asked: list[tuple[int, float, float]] = []
    ask = Seat.ask

    def noted(self: Seat, line: bytes, seconds: float) -> bytes:
        begun = time.monotonic()
        try:
            return ask(self, line, seconds)
        finally:
            asked.append((self.index, begun, time.monotonic()))

    Seat.ask = noted  # type: ignore[method-assign]
    try:
        yield asked
    finally:
        Seat.ask = ask  # type: ignore[method-assign]


@dataclass(frozen=True, slots=True)
class Taken:
    """One job that a GPU of this host took from the line: when, and when it was in the line."""

    thread: str
    joined: float
    compiled: float
    taken: float
    ended: float


@contextlib.contextmanager
def line_watched() -> Iterator[list[Taken]]:
    """Yield a list that fills with each job that was taken from the line of this host's GPUs."""
    found: list[Taken] = []
    joined: dict[int, float] = {}
    compiled: dict[int, float] = {}
    taken: dict[int, float] = {}
    join, take, done = Line.join, Line.next, Line.done

    def noted(self: Line, *given: Any, **named: Any) -> Compiled:
        begun = time.monotonic()
        ticket = join(self, *given, **named)
        joined[ticket.number] = begun
        ticket.built.add_done_callback(
            lambda _: compiled.setdefault(ticket.number, time.monotonic())
        )
        return ticket

    def noted_next(self: Line) -> Compiled | None:
        ticket = take(self)
        if ticket is not None:
            taken[ticket.number] = time.monotonic()
        return ticket

    def noted_done(self: Line, ticket: Compiled) -> None:
        number, now = ticket.number, time.monotonic()
        ready = compiled.get(number, now)
        # Each thread took its first before it was watched.
        times = (joined.get(number, now), ready, taken.get(number, ready))
        found.append(Taken(threading.current_thread().name, *times, now))
        done(self, ticket)

    Line.join, Line.next, Line.done = noted, noted_next, noted_done  # type: ignore[method-assign]
    try:
        yield found
    finally:
        Line.join, Line.next, Line.done = join, take, done  # type: ignore[method-assign]


def idle_for(lined: Sequence[Taken], begun: float, ended: float) -> dict[str, float]:
    """Return for what the GPUs of this host waited, in seconds of all together.

    `choice`: the job that ended the wait had not been chosen yet, since the window's oldest was
    under way or the search computed. `compiling`: it had been chosen. `other`: it was compiled, and
    its machine code under way on another GPU. `end`: there were no more.
    """
    found = {"choice": 0.0, "compiling": 0.0, "other": 0.0, "end": 0.0}
    for thread in {one.thread for one in lined}:
        at = begun
        for one in sorted((o for o in lined if o.thread == thread), key=lambda o: o.taken):
            if one.taken > at and one.taken <= ended:
                joined = min(max(one.joined, at), one.taken)
                compiled = min(max(one.compiled, joined), one.taken)
                found["choice"] += joined - at
                found["compiling"] += compiled - joined
                found["other"] += one.taken - compiled
            at = max(at, one.ended)
        found["end"] += max(0.0, ended - at)
    return {what: round(seconds, 2) for what, seconds in found.items()}


def in_use(
    asked: Sequence[tuple[int, float, float]], begun: float, ended: float
) -> dict[str, dict[str, float]]:
    """Return by GPU what share of a span it worked, idled longest, and how long its first took."""
    found: dict[str, dict[str, float]] = {}
    for index in sorted({one[0] for one in asked}):
        mine = sorted((b, e) for i, b, e in asked if i == index)
        within = [(max(b, begun), min(e, ended)) for b, e in mine if e > begun and b < ended]
        gaps = [b - e for (_, e), (b, _) in itertools.pairwise(within)]
        if within:
            gaps += [within[0][0] - begun, ended - within[-1][1]]
        found[str(index)] = {
            "jobs": len(within),
            "busy": round(sum(e - b for b, e in within) / (ended - begun), 3),
            "idle_seconds": round(ended - begun - sum(e - b for b, e in within), 2),
            "longest_gap": round(max(gaps, default=ended - begun), 2),
            "first_job_seconds": round(mine[0][1] - mine[0][0], 2),
            "first_job_ended_at": round(mine[0][1] - begun, 2),
        }
    return found


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


def table(given: argparse.Namespace) -> int:
    """Print measured rows as a table, each beside the one GPU of the same kind of run."""
    rows = [row for file in given.files for row in json.loads(file.read_text())["rows"]]
    one = {_kind(row): row for row in rows if row["gpus"] == 1}
    print(
        "| example | through | window | GPUs | evaluations/min | × 1 GPU / N "
        "| halves | × 1 GPU / N | busy | idle for choice, compiling, other, end: s "
        "| compile, verify, time: s | search CPU | sent/used |"
    )
    print("|" + " --- |" * 13)
    for row in sorted(rows, key=lambda r: (*_kind(r), r["gpus"])):
        first = one.get(_kind(row), {})
        halves = f"{row.get('first_half_per_minute', '')}, {row.get('steady_per_minute', '')}"
        idle = ", ".join(str(seconds) for seconds in row.get("idle_for", {}).values())
        spent = row.get("mean_seconds", {})
        means = ", ".join(str(spent.get(part, "")) for part in ("compile", "verify", "time"))
        print(
            f"| {row['example']} | {row['through']} | {row['window']} | {row['gpus']} "
            f"| {row['per_minute']:.0f} | {_share(row, first, 'per_minute')} | {halves} "
            f"| {_share(row, first, 'steady_per_minute')} | {_by_gpu(row, 'busy')} | {idle} "
            f"| {means} | {row.get('search_cpu_share', '')} | {row['sent']}/{row['evaluations']} |"
        )
    return 0


def _kind(row: dict[str, Any]) -> tuple[str, str, int]:
    return (row["example"], row["through"], row["window"])


def _share(row: dict[str, Any], first: dict[str, Any], what: str) -> str:
    """Return how many times as much as one GPU each of a row's GPUs came to."""
    return f"{row[what] / first[what] / row['gpus']:.2f}" if first.get(what) else ""


def best(given: argparse.Namespace) -> int:
    """Print the best that was found on one GPU and on several, after as many evaluations."""
    rows = [row for file in given.files for row in json.loads(file.read_text())["rows"]]
    print(
        "| example | GPUs | window | evaluations | best of half of them | best of all "
        "| × one GPU's |"
    )
    print("|" + " --- |" * 7)
    for name in dict.fromkeys(row["example"] for row in rows):
        mine = sorted((row for row in rows if row["example"] == name), key=lambda r: r["gpus"])
        count = min(row["evaluations"] for row in mine)
        first = _best(mine[0], count) if mine[0]["gpus"] == 1 else None
        for row in mine:
            found = _best(row, count)
            share = f"{found / first:.3f}" if first else ""
            print(
                f"| {name} | {row['gpus']} | {row['window'] or 'batches of 4'} | {count} "
                f"| {_best(row, count // 2):.3f}× | {found:.3f}× | {share} |"
            )
    return 0


def _best(row: dict[str, Any], count: int) -> float:
    """Return the largest speedup screened among so many candidates, the unedited kernel's 1."""
    counted = [one for one in row["candidates"] if one[1] not in FREE]
    return max(1.0, *(float(one[-1]) for one in counted[: count + 1]))


def _by_gpu(row: dict[str, dict[str, dict[str, float]]], what: str) -> str:
    return ", ".join(str(one[what]) for one in row.get("gpus_in_use", {}).values())


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
    me = [sys.executable, __file__]
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
