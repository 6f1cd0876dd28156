"""The worker's side of the oracle: ask it once a workload, survive what the original does to it."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path

from runners import capacities, families, opposite_rows, recipes, told
from runners.answering import read
from runners.compare import Answer
from runners.contents import Combination, pool
from runners.cuda_types import Storage
from runners.fault import Fault
from runners.gathered import ORDER_DECIDES
from runners.oracle import combinations
from runners.promote import mixing, promoted
from runners.removal import remove
from runners.spec import BaselineFailure, JobSpec, Json, Work
from runners.ties import ASKED, MOVED

# Starts a module of ours in a fresh interpreter that ignores the environment but knows our paths.
_START = (
    "import json, runpy, sys; sys.path[:] = json.loads(sys.argv.pop(1));"
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)
# Why an answer is not held against a candidate.
UNTOLD = "nothing tells that all that the original adds up fits into its words"
MOST_RESTARTS = 6
# Answers of other workloads and seeds that may stay on disk: a search asks for one seed again and
# again and for each confirmation's once.
MOST_KEPT, MOST_KEPT_BYTES = 6, 2 << 30

# Lists of what is asked that are kept: of a workload's screenings, and of its confirmations.
MOST_WANTED = 12

Build = Callable[[str, Json], Json | None]
_Wanted = tuple[tuple[Combination, ...], tuple[Combination, ...]]


def module_command(module: str, *arguments: str) -> list[str]:
    """Return the command that runs a module of this package in an isolated interpreter."""
    root = str(Path(__file__).resolve().parent.parent)
    paths = [root, *(p for p in sys.path if p and p != root)]
    return [sys.executable, "-I", "-c", _START, json.dumps(paths), module, *arguments]


@dataclass(slots=True)
class Answers:
    """Expected outputs of a workload under one seed, by combination.

    `dropped` says which undeclared combinations the original itself does not define, and why.
    """

    work: Work
    folder: Path
    described: dict[str, Json] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    remedies: dict[str, str] = field(default_factory=dict)
    ask: Callable[[Sequence[Combination]], None] | None = None
    # What was asked about, by its key.
    met: dict[str, Combination] = field(default_factory=dict)
    # Of what is asked only where shorter ones tell of it, what they told.
    told: set[str] = field(default_factory=set)
    _read: dict[str, dict[str, Answer]] = field(default_factory=dict)
    # What all answers together say of their outputs, and of which answers that is.
    _told: tuple[list[Json], set[str], dict[str, tuple[str, ...]]] = ([], set(), {})

    def of(self, combination: Combination) -> dict[str, Answer] | None:
        """Return the answers by output name; None when the original has none."""
        key = combination.key
        if key not in self._read:
            if key not in self.described:
                return None
            self._read[key] = read(self.folder, self.work, self.described[key])
        found = self._read[key]
        # What comes in any order with many threads does so with few, shown there or not.
        free, joined = self._together()
        return {
            name: replace(one, unordered=True, odd=None, joined=joined.get(name, ()))
            if name in free
            else one
            for name, one in found.items()
        }

    def ask_moved(self, combinations: Sequence[Combination]) -> None:
        """Have the original run on moved inputs of all of these, where it has not yet.

        What it does not answer excuses nothing; that it cannot be asked ends no run.
        """
        if self.ask is None or not combinations:
            return
        with contextlib.suppress(Fault):
            self.ask(
                [
                    moved
                    for one in {c.key: c for c in combinations}.values()
                    for moved in _moved(one)
                ]
            )

    def moved(self, combination: Combination, name: str) -> list[Storage]:
        """Return an output of the original with all floats moved by some rounding errors, often.

        The original is asked now: only what may be decided by rounding needs to know.
        """
        self.ask_moved([combination])
        answers = [self.of(one) for one in _moved(combination)]
        return [found[name].want for found in answers if found is not None]

    def _together(self) -> tuple[set[str], dict[str, tuple[str, ...]]]:
        """Return what comes in any order and what belongs together, as all answers so far have it.

        It is asked for far more often than answers come in.
        """
        every = list(self.described.values())
        if self._told[0] != every:  # they are the same objects, if any
            self._told = (every, self._unordered(), self._joined())
        return self._told[1:]

    def unordered(self) -> set[str]:
        """Return the outputs that come in any order, with many threads or few."""
        return self._together()[0]

    def _joined(self) -> dict[str, tuple[str, ...]]:
        """Return the outputs that each belongs together with; not if that failed to show once."""
        groups = [
            {
                str(o["name"]): tuple(o.get("joined") or ())
                for o in d["outputs"]
                if o["unordered"] and o.get("looked")
            }
            for d in self.described.values()
        ]
        names = {name for group in groups for name in group}
        seen = {name: [group[name] for group in groups if name in group] for name in names}
        return {name: every[0] for name, every in seen.items() if len(set(every)) == 1}

    def _unordered(self) -> set[str]:
        return {
            str(output["name"])
            for described in self.described.values()
            for output in described["outputs"]
            if output["unordered"]
        }

    def patience(self, combination: Combination) -> float:
        """Return the seconds after which a run counts as hung: a hundred times the original's.

        Inputs that nobody declared may be the worst there are for a way of doing it.
        """
        least = 2.0 if combination.family == families.DECLARED else 6.0
        return min(30.0, max(least, 100 * self.seconds(combination)))

    def seconds(self, combination: Combination) -> float:
        """Return what the original took."""
        return float(self.described.get(combination.key, {}).get("seconds", 0.1))

    def source(self, combination: Combination) -> str:
        """Say where an answer comes from: reference, double precision, or original."""
        return str(self.described[combination.key].get("source", "original"))


def _moved(combination: Combination) -> list[Combination]:
    return [
        replace(combination, family=f"{combination.family}+{MOVED * (n + 1)}") for n in range(ASKED)
    ]


def _untold(answers: Answers, wanted: Sequence[Combination]) -> None:
    """Drop what an original's answers on shorter rows do not tell: its own sums may overflow."""
    for line in opposite_rows.ways(wanted):
        keys = [one.key for one in line]
        if all(key in answers.dropped or key in answers.told for key in keys):
            continue
        every = [
            read(answers.folder, answers.work, answers.described[key])
            if key in answers.described
            else None
            for key in keys
        ]
        many = told.told(opposite_rows.lengths(line), every)
        answers.told.update(keys[:many])
        for key in keys[many:]:
            answers.described.pop(key, None)
            answers.dropped.setdefault(key, UNTOLD)


def _tell(twin: Future[Json | None], path: Path) -> None:
    """Write down what was compiled, or null, where the process waits for it."""
    fresh = path.with_name(f".{path.name}")
    with contextlib.suppress(OSError):
        fresh.write_text(json.dumps(None if twin.exception() else twin.result()))
        fresh.replace(path)


class Opened:
    """A process that opens the GPU and waits to be told what to answer; it serves once."""

    def __init__(self, gpu: int) -> None:
        self._process = subprocess.Popen(
            module_command("runners.answering", "--wait", str(gpu)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )

    @property
    def waits(self) -> bool:
        """Tell whether it still can be told."""
        return self._process.poll() is None

    def answer(self, asked: Path, seconds: float) -> str:
        """Have it answer; return its last words. Raise `subprocess.TimeoutExpired`."""
        try:
            return self._process.communicate(f"{asked}\n", timeout=seconds)[1]
        finally:
            self.close()

    def close(self) -> None:
        """End it."""
        if self.waits:
            self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stderr):
            if stream is not None:
                stream.close()


class Oracle:
    """Keeps the answers of the workloads this worker has met.

    `opened` is a process to ask first, if there is one.
    """

    def __init__(self, scratch: Path, gpu: int, build: Build) -> None:
        self._scratch, self._gpu, self._build = scratch, gpu, build
        self.opened: Opened | None = None
        self._kept: OrderedDict[str, tuple[Answers, Future[Json | None]]] = OrderedDict()
        self._wanted: OrderedDict[tuple[str, str], _Wanted] = OrderedDict()

    def wanted(self, job: JobSpec) -> _Wanted:
        """Return what is asked of every candidate of a job's workload: declared, and what else.

        It is the same for all of them, and takes as long to list as some of them to run.
        """
        key = job.key, job.checks
        if key not in self._wanted:
            declared, more = combinations(job.work, job.checks, job.seed)
            self._wanted[key] = tuple(declared), tuple(more)
            while len(self._wanted) > MOST_WANTED:
                self._wanted.popitem(last=False)
        return self._wanted[key]

    def answers(
        self, job: JobSpec, request: Json, wanted: Sequence[Combination], seconds: float
    ) -> Answers:
        """Return answers to all the combinations that the original defines.

        Raises `BaselineFailure` when a declared case is not among them.
        """
        if job.key not in self._kept:
            self._evict()
            folder = self._scratch / f"answers-{job.key}"
            folder.mkdir(parents=True, exist_ok=True)
            # Compiled while the process opens the device.
            twin = pool().submit(self._promoted, job, request)
            self._kept[job.key] = (Answers(job.work, folder), twin)
        self._kept.move_to_end(job.key)
        answers, twin = self._kept[job.key]
        declared = {c.key for c in self.wanted(job)[0]}

        def ask(more: Sequence[Combination]) -> None:
            known = answers.described.keys() | answers.dropped.keys()
            missing = [c for c in more if c.key not in known]
            if missing:
                deadline = time.monotonic() + seconds
                self._ask(answers, request, twin, (missing, declared), deadline)

        answers.ask = ask
        ask(wanted)
        _untold(answers, wanted)
        for key in declared & answers.dropped.keys():
            case = key.split("|")[0] or "the only case"
            remedy = answers.remedies.get(key) or "mend the kernel or its cases"
            raise BaselineFailure(f"{case}: {answers.dropped[key]}", remedy)
        return answers

    def _evict(self) -> None:
        """Delete the answers asked for longest ago, until a new set may be made."""
        sizes = {
            key: sum(file.stat().st_size for file in answers.folder.iterdir())
            for key, (answers, _) in self._kept.items()
        }
        while self._kept and (
            len(self._kept) >= MOST_KEPT or sum(sizes.values()) > MOST_KEPT_BYTES
        ):
            key, (answers, _) = self._kept.popitem(last=False)
            del sizes[key]
            remove(answers.folder)

    def _promoted(self, job: JobSpec, request: Json) -> Json | None:
        """Compile the original in double precision; None where that is not mechanical."""
        text = promoted(job.baseline.source)
        if text is None or job.work.loose:
            return None
        return self._build(text, mixing(request["job"]))

    def _ask(
        self,
        answers: Answers,
        request: Json,
        twin: Future[Json | None],
        asked: tuple[Sequence[Combination], AbstractSet[str]],
        deadline: float,
    ) -> None:
        """Run the process until it has answered or failed on everything, or on a declared case.

        `asked` are the missing combinations and the keys of those without which nothing is judged:
        an original that hangs would hang once more for each of the others.
        """
        missing, declared = asked
        answers.met.update((c.key, c) for c in missing)
        left = list(missing)
        for _ in range(MOST_RESTARTS):
            if not left or declared & answers.dropped.keys():
                return
            if len(left) < len(missing) and time.monotonic() >= deadline:
                break  # begun again, it would come to none of them
            broke = self._once(answers, request, twin, left, deadline)
            left = [
                c for c in left if c.key not in answers.described and c.key not in answers.dropped
            ]
            # What is left out for a longer one is nothing that the original does not do.
            gone = [
                c
                for c in missing
                if answers.dropped.get(c.key, capacities.LONGER) != capacities.LONGER
            ]
            for combination in [c for c in left if capacities.hopeless(c, gone)]:
                answers.dropped[combination.key] = capacities.SHORTER
                left.remove(combination)
            if any(c.key == broke and recipes.number(c.family) is not None for c in missing):
                # Whatever breaks it at one of them may be in many, and each takes a process.
                for combination in [c for c in left if recipes.number(c.family) is not None]:
                    answers.dropped[combination.key] = "the original broke on such contents"
                    left.remove(combination)
        over = time.monotonic() >= deadline
        why = "there was no time left to ask" if over else "the original keeps crashing around it"
        for combination in left:
            answers.dropped[combination.key] = why

    def _once(
        self,
        answers: Answers,
        request: Json,
        twin: Future[Json | None],
        left: list[Combination],
        deadline: float,
    ) -> str:
        """Start the process and take in what it wrote; return at which combination it broke."""
        out = answers.folder / "answers.jsonl"
        out.unlink(missing_ok=True)
        promoted = answers.folder / "promoted.json"
        twin.add_done_callback(lambda done: _tell(done, promoted))
        asked = answers.folder / "request.json"
        asked.write_text(
            json.dumps(
                {
                    "job": request["job"],
                    "baseline": request["baseline"],
                    "promoted": str(promoted),
                    "folder": str(answers.folder),
                    "gpu": self._gpu,
                    # A process that is begun anew knows from these what is not to be asked, and
                    # what may take long.
                    "order_decides": any(ORDER_DECIDES in s for s in answers.dropped.values()),
                    "faithful": sorted(
                        {n for one in answers.described.values() for n in one.get("faithful", ())}
                    ),
                    "took": [
                        {"case": dict(c.case), "family": c.family, "seconds": known["took"]}
                        for key, c in answers.met.items()  # in the order in which they were asked
                        if "took" in (known := answers.described.get(key, {}))
                    ],
                    "combinations": [
                        {"case": dict(c.case), "family": c.family, "seed": c.seed} for c in left
                    ],
                }
            )
        )
        words = self._process(asked, max(1.0, deadline - time.monotonic()))
        twin.result()  # whatever kept it from being compiled is a fault of this host
        broke = self._take(answers, out, words)
        if broke is None:
            raise Fault("RunnerError", f"the oracle did not start: {words or 'no output'}")
        return broke

    def _process(self, asked: Path, seconds: float) -> str:
        """Run the process to its end; return its last words."""
        opened, self.opened = self.opened, None
        try:
            if opened is not None and opened.waits:
                return opened.answer(asked, seconds).strip()[-300:]
            done = subprocess.run(
                module_command("runners.answering", str(asked)),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return "the original did not finish in time"
        return done.stderr.strip()[-300:]

    def _take(self, answers: Answers, out: Path, words: str) -> str | None:
        """Read results line by line; return the one begun and not ended, which is that that failed.

        Nothing where all ended; None where nothing was written.
        """
        begun = ""
        lines = out.read_text().splitlines() if out.is_file() else []
        for line in lines:
            said = json.loads(line)
            key, status = str(said["key"]), said["status"]
            if status == "error":
                raise Fault(said["type"], said["message"], said.get("remedy", ""))
            if status == "begun":
                begun = key
                continue
            begun = "" if key == begun else begun
            if status == "ran":
                continue
            if status == "ok":
                answers.described[key] = said
                continue
            if said.get("type") == "ConfigError":
                raise Fault("ConfigError", said["message"], said.get("remedy", ""))
            answers.dropped[key] = str(said["message"])
            answers.remedies[key] = str(said.get("remedy", ""))
        if begun:
            answers.dropped[begun] = words or "the original crashed"
        return begun if lines else None
