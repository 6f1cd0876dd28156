"""Judge the red team on a GPU and print a table: `python -m tests.redteam.run FOLDER [NAME...]`.

All of it, or the bases (`saxpy`) and candidates (`saxpy/tail`) that are named. With `--seconds=N` what
fits into so many seconds, chosen by `--seed=N` (`tests.redteam.choice`); with `--stop-after=N` none is
begun after so many, and with `--new-first` what is not recorded, or waits for its next run, comes first.
`--from=FOLDER`, once or more: those of another table, as of `tests/redteam/blind`. `--lanes=N`: so many
bases at a time on each GPU. Outcomes are written to FOLDER/redteam.json as they come, so that a run that
is stopped is worth what it saw. `--record` keeps them for CI (`tests.redteam.record`) when all are as
they should be. `--beyond` also runs what the edit boundary refused.

Each candidate goes the way it goes in a search: edit boundary, compiler, a screening in a warm
worker and, if that finds nothing, a confirmation with other seeds in a fresh one.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import queue
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from optimizer.boundary import violations
from optimizer.model import Effort
from runners import fuzzing, guided
from runners.answers import module_command
from runners.building import Building
from runners.dispatch import JOB_SECONDS
from runners.program_asking import LAYER as OTHER_ARGUMENTS
from tests.gpu.suite import visible
from tests.redteam import choice, record
from tests.redteam.table import HERE, NO_VERDICT, Candidate, load

Json = dict[str, Any]
CONFIRM_SEED = 1_000_004
# A confirmation waits for sanitizers, and a program's for processes by the dozen: as long as users'.
SECONDS, CONFIRM_SECONDS = 45, JOB_SECONDS[Effort.CONFIRM]
# A base is judged in one lane, which learns the answers of its original once; it is cut where its lane
# would still work when the others are done. A part takes so many seconds of a lane at least.
LEAST_PART, MOST_PART = 30.0, 0.6
LANES = 5
# Programs that are judged at a time on each GPU. They start a process for every run: on two H200 that
# took some 5 s in fourteen lanes of them and others, and 1 s where three of eight had programs
# (2026-11-28); what a program may take ended before its start was over.
PROGRAMS = 3
# A worker that is given up may take so long to end what it started.
GIVE_UP_SECONDS = 5.0
# Cores that are left to the lanes, whose answers and sanitizers compute, too.
LEFT_CORES = 5


@dataclass
class Outcome:
    """What became of one candidate, and which layer decided."""

    label: str
    expect: str
    what: str
    digest: str = ""
    accepted: bool = False
    right: bool = False
    status: str = ""
    stage: str = ""
    layer: str = ""
    seconds: float = 0.0
    speedup: float | None = None
    log: str = ""
    beyond: str = ""
    spent: dict[str, float] = field(default_factory=dict)
    exhibit: Json | None = None
    watched: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def line(self) -> str:
        """Return its line of the table."""
        mark = "ok " if self.right else "BAD"
        gain = f" x{self.speedup:.2f}" if self.speedup else ""
        said = self.log.strip().replace("\n", " | ")[:150]
        beyond = f" [beyond the boundary: {self.beyond}]" if self.beyond else ""
        return (
            f"{mark} {self.label:36} {self.what:34} {self.expect:7} {self.status:13}"
            f" {self.stage:8} {self.layer:16} {self.seconds:6.2f} s{gain} {said}{beyond}"
        )


class Served:
    """A worker that is replaced when it ends, as the dispatcher does it."""

    def __init__(self, gpu: int = 0) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._gpu = gpu
        self._asked = self._over = False

    def start(self) -> subprocess.Popen[str]:
        """Have a process open the GPU ahead of the first request, if there is none."""
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = subprocess.Popen(
                module_command("runners.worker", "--serve", "--gpu", str(self._gpu)),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        return self._process

    def ask(self, request: Json) -> Json:
        """Return the worker's answer; a worker that says nothing is a crash of the candidate."""
        if self._over:
            return {"verdict": {"status": "crashed", "log": "given up"}}
        process = self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        self._asked = True
        process.stdin.write(json.dumps(request) + "\n")
        process.stdin.flush()
        line = process.stdout.readline()
        self._asked = False
        if not line:
            return {"verdict": {"status": "crashed", "log": f"the worker ended: {process.wait()}"}}
        answer: Json = json.loads(line)
        if answer.get("retire"):
            process.wait(30)
            self.start()
        return answer

    def give_up(self) -> None:
        """Begin to end what is being worked on, with all that was started for it."""
        self._over = True
        if self._process is not None and self._asked:
            self._process.send_signal(signal.SIGINT)

    def given_up(self, until: float) -> None:
        """See that it has ended, by a time (`time.monotonic`)."""
        if self._process is not None and self._asked:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(max(0.0, until - time.monotonic()))
            self._process.kill()

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    stream.close()
            process.wait(30)


def _decided(verdict: Json) -> str:
    failed = [c for c in verdict.get("checks") or () if not c["passed"]]
    return str(failed[-1]["layer"]) if failed else str(verdict["status"])


def _found(check: Json) -> str:
    """Say how much a tool found that was not held against a candidate."""
    errors = check["error"] if check["layer"] == "sanitizer" else 0
    return f" (found {errors:.0f})" if errors else ""


def _speedup(verdict: Json) -> float | None:
    cases = (verdict.get("measurement") or {}).get("cases") or ()
    each = [
        statistics.median(
            b / c for b, c in zip(case["baseline_us"], case["candidate_us"], strict=True)
        )
        for case in cases
    ]
    return statistics.geometric_mean(each) if each else None


class Team:
    """Judges candidates, those of several bases at once: one worker screens, one confirms.

    A lane keeps its two workers for all bases it is given; one that breaks is replaced.
    """

    def __init__(
        self, scratch: Path, sm: int, *, beyond: bool = False, lanes: int = 0, gpus: int = 1
    ) -> None:
        self._building = Building(sm, scratch)
        lanes = lanes or min(LANES, max(3, (os.cpu_count() or 8) // 2 // gpus))
        self._beyond, self._lanes = beyond, lanes * gpus
        self._programs = min(PROGRAMS, lanes) * gpus
        self._stopped = threading.Event()
        self._workers = [(Served(n % gpus), Served(n % gpus)) for n in range(self._lanes)]
        # The workers of lanes that have nothing to do.
        self._free: queue.SimpleQueue[tuple[Served, Served]] = queue.SimpleQueue()
        for pair in self._workers:
            self._free.put(pair)

    def close(self) -> None:
        """End the workers and what runs the compiler."""
        for worker in itertools.chain.from_iterable(self._workers):
            worker.close()
        self._building.close()

    def judge(
        self,
        candidates: Sequence[Candidate],
        cores: int = 0,
        until: float | None = None,
        first: Collection[str] = (),
        end: float = math.inf,
    ) -> Iterator[Outcome]:
        """Yield an outcome for each as it is known.

        After `until` (`time.monotonic`) no further one is begun, and at `end` those that are being
        judged are given up; labels in `first`, and the bases that they belong to, come before others.
        All are compiled from the start, while the GPU works.
        """
        costs = choice.expected(candidates, choice.recorded())
        bases = list(_parts(candidates, costs, self._lanes, first))
        cores = cores or max(4, (os.cpu_count() or 8) - LEFT_CORES)
        known: queue.SimpleQueue[Outcome | None] = queue.SimpleQueue()
        self._stopped.clear()
        few = min(self._programs, sum(map(_of_program, bases)))
        with (
            ThreadPoolExecutor(cores) as pool,
            ThreadPoolExecutor(max(1, few)) as programs,
            ThreadPoolExecutor(max(1, self._lanes - few)) as lanes,
        ):
            built = {
                c.label: pool.submit(self._building.compiled, c.source, c.job("screen"))
                for c in _as_needed(bases, self._lanes)
            }
            running = [
                (programs if _of_program(mine) else lanes).submit(
                    self._of_base, mine, built, known, until
                )
                for mine in bases
            ]
            try:
                for _ in candidates:
                    outcome = _next(known, running, end)
                    if outcome is not None:
                        yield outcome
            except TimeoutError:
                self._stopped.set()
                every = list(itertools.chain.from_iterable(self._workers))
                for worker in every:
                    worker.give_up()
                for worker in every:
                    worker.given_up(end + GIVE_UP_SECONDS)
            finally:
                self._stopped.set()
                for compiling in built.values():
                    compiling.cancel()

    def _of_base(
        self,
        candidates: Sequence[Candidate],
        built: dict[str, Future[Json]],
        known: queue.SimpleQueue[Outcome | None],
        until: float | None,
    ) -> None:
        def over() -> bool:
            return self._stopped.is_set() or (until is not None and time.monotonic() > until)

        first = candidates[0]
        if over():
            for _ in candidates:
                known.put(None)
            return
        workers = self._free.get()
        try:
            for worker in workers:
                worker.start()  # while the original is compiled
            baseline = self._building.compiled(first.base.source, first.job("screen"))
            for candidate in candidates:
                if over():
                    known.put(None)
                    continue
                outcome = Outcome(
                    candidate.label, candidate.expect, candidate.what, candidate.digest
                )
                begun = time.monotonic()
                self._one(candidate, outcome, built[candidate.label], baseline, workers)
                outcome.seconds = time.monotonic() - begun
                # Who cannot be judged is not refused: the original may have failed.
                outcome.right = outcome.status != NO_VERDICT and candidate.right(
                    accepted=outcome.accepted, speedup=outcome.speedup, notes=outcome.notes
                )
                known.put(outcome)
        finally:
            self._free.put(workers)

    def _one(
        self,
        candidate: Candidate,
        outcome: Outcome,
        built: Future[Json],
        baseline: Json,
        workers: tuple[Served, Served],
    ) -> None:
        screening, confirming = workers
        outside = violations(
            candidate.base.source, candidate.source, allow_host=candidate.base.edit_host
        )
        if outside:
            outcome.status, outcome.stage, outcome.layer = "rejected", "boundary", "edit boundary"
            outcome.log = "; ".join(outside)
            if not self._beyond:
                return
        begun = time.monotonic()
        artifact = built.result()
        outcome.spent["waited for the compiler"] = time.monotonic() - begun
        if "path" not in artifact:
            if not outside:
                outcome.status, outcome.stage, outcome.layer = "does not compile", "compile", ""
                outcome.log = artifact["log"]
            return
        pair = (artifact, baseline)
        verdict = self._asked(screening, candidate, pair, "screen", 1)
        if outside:
            outcome.beyond = f"{verdict['status']} {_decided(verdict)} {verdict.get('log')}"[:160]
            return
        stage = "screen"
        if verdict["status"] == "correct":
            outcome.spent |= verdict["seconds"]
            verdict = self._asked(confirming, candidate, pair, "confirm", CONFIRM_SEED)
            stage = "confirm"
        outcome.status, outcome.stage = verdict["status"], stage
        outcome.layer, outcome.log = _decided(verdict), verdict.get("log") or ""
        outcome.accepted = verdict["status"] == "correct"
        outcome.speedup = _speedup(verdict)
        outcome.notes = list((verdict.get("measurement") or {}).get("notes") or ())
        outcome.exhibit = verdict.get("exhibit")
        looked = {"sanitizer", "plausibility", "delayed warps", "many launches"}
        looked |= {fuzzing.LAYER, guided.LAYER, OTHER_ARGUMENTS}
        outcome.watched = [
            f"{check['layer']}: {check['what']}{_found(check)}"
            for check in verdict.get("checks") or ()
            if check["layer"] in looked
        ]
        outcome.spent |= {f"{stage} {k}": v for k, v in (verdict.get("seconds") or {}).items()}

    def _asked(
        self, worker: Served, candidate: Candidate, pair: tuple[Json, Json], effort: str, seed: int
    ) -> Json:
        quick = effort == "screen" and candidate.base.kind != "program"
        request = {
            "id": candidate.label,
            "nonce": "n",
            "job": candidate.job(effort, seed),
            "candidate": pair[0],
            "baseline": pair[1],
            "limits": {"seconds": SECONDS if quick else CONFIRM_SECONDS},
            "exhibit": True,
        }
        answer = worker.ask(request)
        if "error" in answer:
            text = f"{answer['error']['type']}: {answer['error']['message']}"
            return {"status": NO_VERDICT, "log": text}
        found: Json = answer["verdict"]
        return found


def _next(
    known: queue.SimpleQueue[Outcome | None], running: Sequence[Future[None]], end: float
) -> Outcome | None:
    """Wait for an outcome; None is one that was not begun. An error of ours comes up here.

    Raises `TimeoutError` at the end (`time.monotonic`).
    """
    while True:
        left = end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        try:
            return known.get(timeout=min(5.0, left))
        except queue.Empty:
            for one in running:
                if one.done():
                    one.result()


def _parts(
    candidates: Sequence[Candidate],
    costs: Mapping[str, float],
    lanes: int,
    first: Collection[str] = (),
) -> list[list[Candidate]]:
    """Return what each lane is given at a time, in turn: a base's candidates, or some of them.

    What takes longest comes first. The original is its base's last: that it equals itself is asked
    of what has been answered for the others by then, and costs no answers of its own.
    """
    by_base: dict[str, list[Candidate]] = {}
    for one in candidates:
        by_base.setdefault(one.base.name, []).append(one)

    def seconds(mine: Sequence[Candidate]) -> float:
        return choice.total(mine, costs)

    most = max(LEAST_PART, MOST_PART * sum(map(seconds, by_base.values())) / lanes)
    found = []
    for mine in by_base.values():
        mine.sort(key=lambda one: (one.label not in first, one.name == "base"))
        count = min(len(mine), math.ceil(seconds(mine) / most))
        found += [mine[turn::count] for turn in range(count)]
    found.sort(key=seconds, reverse=True)
    urgent = [mine for mine in found if any(one.label in first for one in mine)]
    return [*_mixed(urgent), *_mixed([mine for mine in found if mine not in urgent])]


def _of_program(part: Sequence[Candidate]) -> bool:
    return part[0].base.kind == "program"


def _mixed(parts: Sequence[list[Candidate]]) -> list[list[Candidate]]:
    """Put kernels between programs and entry functions, which take a compiler some seconds each.

    Lanes that begin with those alone wait for their first candidates.
    """
    quick = [mine for mine in parts if mine[0].base.kind == "kernel"]
    slow = [mine for mine in parts if mine[0].base.kind != "kernel"]
    found = []
    for number in range(max(len(slow), -(-len(quick) // 2))):
        found += [*slow[number : number + 1], *quick[2 * number : 2 * number + 2]]
    return found


def _as_needed(parts: Sequence[Sequence[Candidate]], lanes: int) -> Iterator[Candidate]:
    """Yield candidates in about the order in which lanes that begin side by side come to them."""
    for first in range(0, len(parts), lanes):
        for row in itertools.zip_longest(*parts[first : first + lanes]):
            yield from (one for one in row if one is not None)


def count(outcomes: Sequence[Outcome]) -> str:
    """Return the sum of a table in words."""
    good = [o for o in outcomes if o.expect == "accept"]
    bad = [o for o in outcomes if o.expect != "accept"]
    let, lost = [o for o in bad if not o.right], [o for o in good if not o.right]
    through = [o for o in bad if o.right and o.accepted]
    kinds = {"limit": "accepted and said", "gain": "right and no faster", "open": "known to pass"}
    beside = (
        f" {number} {words},"
        for kind, words in kinds.items()
        if (number := sum(o.expect == kind for o in through))
    )
    return (
        f"bad: {len(bad) - len(let) - len(through)} refused,{''.join(beside)} {len(let)} accepted;"
        f" good: {len(good) - len(lost)} accepted, {len(lost)} refused"
    )


def gpus() -> int:
    """Return how many GPUs this process may use: all there are, where nobody names some."""
    return len(visible(os.environ.get("CUDA_VISIBLE_DEVICES"))) or 1  # noqa: TID251 - as CUDA reads it


def device() -> Json:
    """Return what a worker says of the GPU; `error` is in it when there is none."""
    worker = Served()
    try:
        return worker.ask({"op": "hello"})
    finally:
        worker.close()


def number(arguments: Sequence[str], name: str) -> float | None:
    """Return the number of `--name=number`; None without it, the last of several."""
    found = [a.partition("=")[2] for a in arguments if a.startswith(f"--{name}=")]
    return float(found[-1]) if found else None


def main(arguments: Sequence[str]) -> int:
    """Judge what is asked for; return 0 when all was judged and is well, 3 when time was over."""
    facts = device()
    if "error" in facts:
        sys.stderr.write(f"{facts['error']['message']}\n")
        return 2
    words = [a for a in arguments if not a.startswith("--")]
    folder, wanted = Path(words[0] if words else "."), words[1:]
    seconds, seed = number(arguments, "seconds"), int(number(arguments, "seed") or 1)
    given = [Path(a.partition("=")[2]) for a in arguments if a.startswith("--from=")]
    every = [
        candidate
        for one in given or [HERE]
        for candidate in load(one)
        if not wanted or {candidate.base.name, candidate.label} & set(wanted)
    ]
    known = choice.recorded()
    first = record.missing(every) if "--new-first" in arguments else ()
    if seconds is None:
        chosen, until = choice.whole(every, known), None
    else:
        chosen, until = choice.choose(every, seed, seconds, known), time.monotonic() + seconds
    most = number(arguments, "stop-after")
    if most is not None:
        until = min(time.monotonic() + most, math.inf if until is None else until)
    sys.stdout.write(f"{chosen.words()} (an estimate), seed {seed}\n")
    outcomes: list[Outcome] = []
    begun = time.monotonic()
    folder.mkdir(parents=True, exist_ok=True)  # ahead of minutes that would be for nothing
    file = folder / "redteam.json"
    sm, beyond = int(facts["sm"]), "--beyond" in arguments
    lanes = int(number(arguments, "lanes") or 0)
    with (
        tempfile.TemporaryDirectory(prefix="redteam-") as scratch,
        contextlib.closing(
            Team(Path(scratch), sm, beyond=beyond, lanes=lanes, gpus=gpus())
        ) as team,
    ):
        for outcome in team.judge(chosen.candidates, until=until, first=first):
            outcomes.append(outcome)
            sys.stdout.write(f"{time.monotonic() - begun:6.1f} {outcome.line()}\n")
            sys.stdout.flush()
            data = {"gpu": facts["gpu"], "outcomes": [asdict(o) for o in outcomes]}
            file.write_text(json.dumps(data, indent=1))
    wrong = [o for o in outcomes if not o.right]
    left = len(chosen.candidates) - len(outcomes)
    sys.stdout.write(f"{count(outcomes)}; {time.monotonic() - begun:.0f} s on {facts['gpu']}\n")
    for outcome in wrong:
        sys.stdout.write(f"{outcome.line()}\n")
    if left:
        sys.stdout.write(f"{left} were not judged: the time was over\n")
    if "--record" in arguments and not wrong:
        record.main([str(file)])
    return 1 if wrong else 3 if left else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
