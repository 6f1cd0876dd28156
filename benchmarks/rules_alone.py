"""Judge single edits of named rules, without a search around them.

    python -m benchmarks.rules_alone --rules tile-matmul,scan-loop --most 170 --out rules.json
    python -m benchmarks.rules_alone --rules scan-loop benchmarks/rules/row_offsets/row_offsets.cu
    python -m benchmarks.rules_alone --rules tile-matmul --sm 90

A search tries what looks most promising, so that a rule may go without a verdict for long. Here a
rule is asked about every kernel given (or those of `benchmarks/rules`, the examples and
`tests/data/by_hand`), and its first few edits of each are judged as in a search: edit boundary,
compiler, a screening in a warm worker. With `--confirm` the fastest of each rule and kernel is
then asked anew with other inputs, sanitizers included. With `--sm` no GPU is used and nothing runs.

No counters are read and nothing is known of the original's machine code: what rules and gates
make of findings is not seen here. `--out` is written anew with every outcome, so that a run that
is stopped is worth what it saw. Exit status: 0 all edits hold, 1 some do not, 2 no GPU or nothing
to judge, 3 the time was over before all were judged.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import os
import queue
import signal
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from bot import projects
from optimizer import plugins
from optimizer.boundary import violations
from optimizer.errors import OptimlError
from optimizer.interfaces import RewriteRule
from optimizer.model import Effort, Kernel, Measurement, Status, Step, Verdict, Workload
from optimizer.policies.rules import RulePolicy
from optimizer.significance import decide, interval
from optimizer.written_out import header_macros
from runners import wire
from runners.building import Building
from runners.interfaces import Job
from runners.workload import read_project
from tests.redteam.run import Served, device

Json = dict[str, Any]
ROOT = Path(__file__).resolve().parents[1]
# Those written for rules come first: no other kernel here shows what these do.
PLACES = ("benchmarks/rules/*/.optiml.yml", "examples/*/.optiml.yml", "tests/data/by_hand/*/*.yml")
EACH = 3
LANES = 5
SCREEN_SEED, CONFIRM_SEED = 1, 1_000_004
SECONDS: Mapping[Effort, float] = {Effort.SCREEN: 45.0, Effort.CONFIRM: 120.0}
# Cores that are left to the lanes, whose answers compute, too.
LEFT_CORES = 5


@dataclass(frozen=True, slots=True)
class Subject:
    """A kernel that rules are asked about, with its workload."""

    name: str
    kernel: Kernel
    workload: Workload


@dataclass(frozen=True, slots=True)
class Single:
    """One edit of one rule; `number` is its place among the rule's edits of this kernel."""

    rule: str
    number: int
    subject: Subject
    title: str
    kernel: Kernel

    def job(self, effort: Effort = Effort.SCREEN, seed: int = SCREEN_SEED) -> Json:
        """Return the job that judges it, as a worker reads it."""
        mine = self.subject
        return wire.job_to_dict(
            Job(self.kernel, mine.kernel, mine.workload, effort=effort, seed=seed)
        )


@dataclass(slots=True)
class Outcome:
    """What became of an edit. `correct` is None where it was not run.

    `speedup` holds estimate, low and high; `times_us` the medians of each timed case, before and
    after. `confirmed` is what a confirmation said of it, None without one.
    """

    rule: str
    kernel: str
    number: int
    title: str
    legal: bool = False
    compiled: bool = False
    correct: bool | None = None
    status: str = ""
    speedup: list[float] | None = None
    decision: str = ""
    times_us: dict[str, list[float]] = field(default_factory=dict)
    seconds: float = 0.0
    confirmed: bool | None = None
    log: str = ""

    @property
    def bad(self) -> bool:
        """Tell whether a rule that knows what is legal would not have proposed this."""
        return (
            not (self.legal and self.compiled) or self.correct is False or self.confirmed is False
        )

    def cells(self) -> list[str]:
        """Return its row of the table."""
        fast = self.speedup
        shown = f"{fast[0]:.2f}× ({fast[1]:.2f}–{fast[2]:.2f})" if fast else ""
        agreed = {None: "", True: ", confirmed", False: ", not confirmed"}[self.confirmed]
        words = self.log.strip().replace("|", "/").replace("\n", " ")[:90] if self.bad else ""
        times = "; ".join(f"{b:.1f} → {c:.1f}" for b, c in self.times_us.values())
        return [
            self.rule, self.kernel, self.title.replace("|", "/"),
            "yes" if self.legal else "NO", "yes" if self.compiled else "NO",
            f"{self.status}{agreed}", shown, times, f"{self.seconds:.1f}", words,
        ]  # fmt: skip


class Worker(Protocol):
    """Judges one request at a time, as `tests.redteam.run.Served` does."""

    def start(self) -> object:
        """Begin to open the GPU."""
        ...

    def ask(self, request: Json) -> Json:
        """Return the answer to a request."""
        ...

    def close(self) -> None:
        """End it."""
        ...


class Compiles(Protocol):
    """Compiles a source under a job's settings, as `runners.building.Building` does."""

    def compiled(self, text: str, job: Json) -> Json:
        """Return the artifact, or one without `path` where it does not compile."""
        ...


def subjects(files: Sequence[Path]) -> list[Subject]:
    """Return the kernels of sources or project files; all that are known when none is named."""
    if not files:
        files = [file for place in PLACES for file in sorted(ROOT.glob(place))]
    found = []
    for file in files:
        whole = file.suffix in (".yml", ".yaml")
        pairs = read_project(file).kernels() if whole else projects.of_file(file).kernels
        found += [Subject(workload.name, kernel, workload) for kernel, workload in pairs]
    return found


def proposals(subject: Subject, name: str, rule: RewriteRule, most: int) -> list[Single]:
    """Return the first distinct edits that a rule has for a kernel, as a search would see them."""
    kernel, workload = subject.kernel, subject.workload
    macros = header_macros(kernel, Path(workload.root), workload.build.include)
    policy = RulePolicy({name: rule}, workload.accept, macros=macros)
    step = Step(0, None, None, kernel, Verdict(Status.CORRECT))
    found = [
        Single(name, number, subject, one.edit.title, one.edit.apply(kernel))
        for number, one in enumerate(policy.propose(step, [], most))
    ]
    for note in policy.notes:
        say(f"{name} on {subject.name}: {note}")
    return found


def edits(every: Sequence[Subject], rules: Mapping[str, RewriteRule], most: int) -> list[Single]:
    """Return what rules propose for kernels: those of a kernel side by side, first ones first.

    What two rules propose alike is the first one's.
    """
    found = []
    for subject in every:
        mine: dict[str, Single] = {}
        asked = (proposals(subject, name, rule, most) for name, rule in rules.items())
        for single in itertools.chain.from_iterable(asked):
            mine.setdefault(single.kernel.digest, single)
        found += sorted(mine.values(), key=lambda one: one.number)
    return found


class Bench:
    """Judges edits, those of several kernels at a time: a worker a lane.

    Without workers edits are compiled only.
    """

    def __init__(self, compiler: Compiles, workers: Sequence[Worker], cores: int = 0) -> None:
        self._compiler, self._count = compiler, max(1, len(workers))
        self._cores = cores or max(2, (os.cpu_count() or 4) - LEFT_CORES)
        self._runs = bool(workers)
        self._free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        for worker in workers:
            self._free.put(worker)
        self._stopped = threading.Event()

    def judge(
        self, singles: Sequence[Single], until: float | None = None, *, confirm: bool = False
    ) -> Generator[Outcome]:
        """Yield an outcome for each edit as it is known; once more where it was confirmed.

        After `until` (`time.monotonic`) none is begun.
        """
        with ThreadPoolExecutor(self._cores) as pool:
            built = {
                (one.rule, one.kernel.digest, one.subject.name): pool.submit(self._built, one)
                for one in _as_needed(singles, self._count)
            }

            def artifact(one: Single) -> Json:
                return built[one.rule, one.kernel.digest, one.subject.name].result()

            try:
                seen: list[tuple[Single, Outcome]] = []
                for single, outcome in self._all(singles, artifact, until, self._screened):
                    seen.append((single, outcome))
                    yield outcome
                if not (confirm and self._runs):
                    return
                known = {id(single): outcome for single, outcome in seen}

                def confirmed(worker: Worker, single: Single, pair: tuple[Json, Json]) -> Outcome:
                    return self._confirmed(worker, single, pair, known[id(single)])

                for _, outcome in self._all(fastest(seen), artifact, until, confirmed):
                    yield outcome
            finally:
                self._stopped.set()
                for one in built.values():
                    one.cancel()

    def _all(
        self,
        singles: Sequence[Single],
        artifact: Callable[[Single], Json],
        until: float | None,
        ask: Callable[[Worker, Single, tuple[Json, Json]], Outcome],
    ) -> Iterator[tuple[Single, Outcome]]:
        known: queue.SimpleQueue[tuple[Single, Outcome]] = queue.SimpleQueue()

        def over() -> bool:
            return self._stopped.is_set() or (until is not None and time.monotonic() > until)

        def lane(mine: Sequence[Single]) -> None:
            # One worker for all edits of a kernel: it works out the original's answers once.
            worker = self._free.get() if self._runs and not over() else None
            try:
                baseline: Json | None = None
                for single in mine:
                    if over():
                        return
                    begun = time.monotonic()
                    outcome = self._compiled(single, artifact)
                    if outcome.compiled and worker is not None:
                        baseline = baseline or self._original(single)
                        outcome = ask(worker, single, (artifact(single), baseline))
                    outcome.seconds += time.monotonic() - begun
                    known.put((single, outcome))
            finally:
                if worker is not None:
                    self._free.put(worker)

        with ThreadPoolExecutor(self._count) as lanes:
            running = [lanes.submit(lane, mine) for mine in _by_kernel(singles)]
            try:
                while not all(one.done() for one in running):
                    with contextlib.suppress(queue.Empty):
                        yield known.get(timeout=0.2)
                while not known.empty():
                    yield known.get()
            except BaseException:
                self._stopped.set()
                raise
            for one in running:
                one.result()  # an error of ours comes up here

    @staticmethod
    def _compiled(single: Single, artifact: Callable[[Single], Json]) -> Outcome:
        outcome = _looked_at(single)
        if not outcome.legal:
            return outcome
        built = artifact(single)
        outcome.compiled = "path" in built
        outcome.status = "compiled" if outcome.compiled else "does not compile"
        outcome.log = "" if outcome.compiled else str(built.get("log", ""))
        return outcome

    def _built(self, single: Single) -> Json:
        return self._compiler.compiled(single.kernel.source, single.job())

    def _original(self, single: Single) -> Json:
        kernel = single.subject.kernel
        return self._compiler.compiled(kernel.source, replace(single, kernel=kernel).job())

    def _screened(self, worker: Worker, single: Single, pair: tuple[Json, Json]) -> Outcome:
        outcome = _looked_at(single)
        outcome.compiled = True
        if pair[0].get("machine_code") == pair[1].get("machine_code"):
            outcome.correct, outcome.status = True, "the same code"
            return outcome
        verdict = self._asked(worker, single, pair, Effort.SCREEN, SCREEN_SEED)
        outcome.status, outcome.log = _status(verdict), _log(verdict)
        outcome.correct = None if isinstance(verdict, str) else verdict.status is Status.CORRECT
        if isinstance(verdict, Verdict) and outcome.correct:
            _timed(outcome, verdict.measurement, single.subject.workload)
        return outcome

    def _confirmed(
        self, worker: Worker, single: Single, pair: tuple[Json, Json], outcome: Outcome
    ) -> Outcome:
        verdict = self._asked(worker, single, pair, Effort.CONFIRM, CONFIRM_SEED)
        if isinstance(verdict, str):
            outcome.log = verdict
            return outcome
        outcome.confirmed = verdict.status is Status.CORRECT
        if outcome.confirmed:
            _timed(outcome, verdict.measurement, single.subject.workload)
        else:
            outcome.status, outcome.log = verdict.status.value, _log(verdict)
        return outcome

    @staticmethod
    def _asked(
        worker: Worker, single: Single, pair: tuple[Json, Json], effort: Effort, seed: int
    ) -> Verdict | str:
        """Return a worker's verdict, or why there is none."""
        if "path" not in pair[1]:
            return f"the original does not compile: {pair[1].get('log')}"
        request = {
            "id": single.title,
            "nonce": "n",
            "job": single.job(effort, seed),
            "candidate": pair[0],
            "baseline": pair[1],
            "limits": {"seconds": SECONDS[effort]},
        }
        answer = worker.ask(request)
        if "error" in answer:
            return f"{answer['error'].get('type')}: {answer['error'].get('message')}"
        try:
            return wire.verdict_from_dict(answer.get("verdict"))
        except OptimlError as error:
            return error.message


def _looked_at(single: Single) -> Outcome:
    """Return an outcome that knows whether an edit is within the boundary."""
    mine = single.subject
    allow = mine.workload.accept.edit_host
    outside = violations(mine.kernel.source, single.kernel.source, allow_host=allow)
    outcome = Outcome(single.rule, mine.name, single.number, single.title, legal=not outside)
    if outside:
        outcome.status, outcome.log = "beyond the boundary", "; ".join(outside)
    return outcome


def _status(verdict: Verdict | str) -> str:
    return "no verdict" if isinstance(verdict, str) else verdict.status.value


def _log(verdict: Verdict | str) -> str:
    return verdict if isinstance(verdict, str) else verdict.log


def _timed(outcome: Outcome, measured: Measurement | None, workload: Workload) -> None:
    """Put what was measured into an outcome."""
    found = interval(measured, workload.accept.confidence)
    if measured is None or found is None:
        return
    outcome.speedup = [found.estimate, found.low, found.high]
    outcome.decision = decide(measured, workload.accept).value
    outcome.times_us = {
        case.name: [statistics.median(case.baseline_us), statistics.median(case.candidate_us)]
        for case in measured.cases
        if case.baseline_us
    }


def fastest(seen: Iterable[tuple[Single, Outcome]]) -> list[Single]:
    """Return the fastest correct edit of each rule and kernel."""
    best: dict[tuple[str, str], tuple[float, Single]] = {}
    for single, outcome in seen:
        if not outcome.correct or outcome.speedup is None:
            continue
        key = (single.rule, single.subject.name)
        if key not in best or outcome.speedup[0] > best[key][0]:
            best[key] = (outcome.speedup[0], single)
    return [single for _, single in best.values()]


def _by_kernel(singles: Iterable[Single]) -> list[list[Single]]:
    """Return the edits of each kernel, which one lane takes: a worker knows its answers then."""
    found: dict[int, list[Single]] = {}
    for single in singles:
        found.setdefault(id(single.subject), []).append(single)
    return list(found.values())


def _as_needed(singles: Sequence[Single], lanes: int) -> Iterator[Single]:
    """Yield edits in about the order in which lanes that begin side by side come to them."""
    parts = _by_kernel(singles)
    for first in range(0, len(parts), lanes):
        for row in itertools.zip_longest(*parts[first : first + lanes]):
            yield from (one for one in row if one is not None)


def table(outcomes: Sequence[Outcome]) -> str:
    """Return outcomes as Markdown, the fastest of each rule first, and a line that counts them."""
    head = ["rule", "kernel", "edit", "legal", "compiled", "status", "speedup (interval)",
            "µs before → after", "s", "log"]  # fmt: skip
    rows = sorted(outcomes, key=lambda o: (o.rule, -(o.speedup[0] if o.speedup else 0.0), o.kernel))
    lines = [f"| {' | '.join(head)} |", "| " + " | ".join(["---"] * len(head)) + " |"]
    lines += [f"| {' | '.join(one.cells())} |" for one in rows]
    run = [one for one in outcomes if one.correct is not None]
    bad = sum(one.bad for one in outcomes)
    faster = sum(one.decision == "faster" for one in run)
    slower = sum(one.decision == "slower" for one in run)
    count = f"{len(outcomes)} edits, {len(run)} run: {faster} faster, {slower} slower"
    lines += ["", f"{count}; {bad} of all should not have been proposed"]
    return "\n".join(lines) + "\n"


def write(file: Path | None, outcomes: Sequence[Outcome], facts: Json) -> None:
    """Write what is known so far, so that no reader sees half of it."""
    if file is None:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f"{file.name}.new")
    data = facts | {"outcomes": [asdict(one) for one in outcomes]}
    beside.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    beside.replace(file)


def say(line: str) -> None:
    """Print at once."""
    print(line, flush=True)


def told(outcomes: Iterable[Outcome], file: Path | None, facts: Json) -> list[Outcome]:
    """Print and write outcomes as they come; return all when they end or Ctrl-C ends them."""
    found: list[Outcome] = []
    begun = time.monotonic()
    with contextlib.suppress(KeyboardInterrupt):
        for one in outcomes:
            if not any(one is other for other in found):
                found.append(one)
            fast = f" {one.speedup[0]:.2f}x" if one.speedup else ""
            words = f" {' '.join(one.log.split())[:160]}" if one.bad or one.correct is None else ""
            agreed = {None: "", True: " confirmed", False: " NOT CONFIRMED"}[one.confirmed]
            mark = "BAD" if one.bad else "ok "
            say(
                f"{time.monotonic() - begun:6.1f} {mark} {one.rule:18} {one.kernel:22}"
                f" {one.status}{agreed}{fast} {one.seconds:.1f} s: {one.title}{words}"
            )
            write(file, found, facts)
    return found


def asked_for(names: str) -> dict[str, RewriteRule]:
    """Return the rules of a list with commas, all for an empty one."""
    notes: list[str] = []
    known = plugins.rules(notes)
    for note in notes:
        say(note)
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise SystemExit(f"no rule {', '.join(unknown)}; there are {', '.join(known)}")
    return {name: known[name] for name in wanted or known}


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kernels", nargs="*", type=Path, metavar="KERNEL.cu")
    parser.add_argument("--rules", default="", help="names with commas; all when left out")
    parser.add_argument("--each", type=int, default=EACH, help="edits of a rule and kernel")
    parser.add_argument("--most", type=float, metavar="SECONDS", help="none is begun after so many")
    parser.add_argument("--lanes", type=int, default=LANES, help="kernels side by side")
    parser.add_argument("--confirm", action="store_true", help="confirm the fastest of each")
    parser.add_argument("--sm", type=int, help="compile for such a GPU, run nothing")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    given = parser.parse_args(arguments)
    until = time.monotonic() + given.most if given.most else None
    singles = edits(subjects(given.kernels), asked_for(given.rules), given.each)
    if not singles:
        say("these rules have no edits of these kernels")
        return 2
    facts = {"sm": given.sm, "gpu": ""} if given.sm else device()
    if "error" in facts:
        say(str(facts["error"]["message"]))
        return 2
    about: Json = {"gpu": facts["gpu"], "edits": len(singles), "date": time.strftime("%F")}
    say(f"{len(singles)} edits of {len({id(one.subject) for one in singles})} kernels")
    previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
    with contextlib.ExitStack() as stack:
        stack.callback(signal.signal, signal.SIGTERM, previous)
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="rules-"))
        building = stack.enter_context(
            contextlib.closing(Building(int(facts["sm"]), Path(scratch)))
        )
        workers = [] if given.sm else [Served() for _ in range(given.lanes)]
        for worker in workers:
            stack.callback(worker.close)
            worker.start()
        bench = Bench(building, workers, cores=2 if given.sm else 0)
        known = bench.judge(singles, until, confirm=given.confirm)
        with contextlib.closing(known):
            outcomes = told(known, given.out, about)
    print(table(outcomes))
    left = len(singles) - len(outcomes)
    if left:
        print(f"{left} were not judged: the time was over")
    return 1 if any(one.bad for one in outcomes) else 3 if left else 0


if __name__ == "__main__":
    sys.exit(main())
