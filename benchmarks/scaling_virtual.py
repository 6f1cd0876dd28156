"""What a search on several GPUs takes, by a clock that is only counted: no GPU, no waiting.

    python benchmarks/scaling_virtual.py [--evaluations 63] [--window 8]

The search, its rules and the order in which GPUs take jobs (`runners.line.first`) are the real
ones. Compiling, judging and a GPU's first job take what they took on an H200. `--cpu` counts the
processor time of this process, too, as it passes between two questions to the dispatcher.
"""

from __future__ import annotations

import argparse
import hashlib
import heapq
import itertools
import json
import math
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace

from optimizer.model import Effort, Kernel, Verdict
from runners.awaited import Awaited
from runners.dispatch import Built
from runners.interfaces import Job
from runners.line import Compiled, Rank, first, rehearsable


@dataclass(frozen=True, slots=True)
class Pace:
    """Seconds of an H200 host: softmax. `cold` is a GPU's first job more than the later ones.

    Of that the recording has 3.96 s for the oracle. One candidate in `twins` has machine code that
    some other has. Judging differs evenly by `spread` to both sides or, with `sigma`, as the normal
    distribution's exponential: some take long.
    """

    compile: float = 0.32
    judge: float = 0.666
    spread: float = 0.25
    sigma: float = 0.0
    cold: float = 4.5
    twins: int = 8

    def judging(self, drawn: float) -> float:
        """Return what a candidate takes, by a number drawn between 0 and 1."""
        if not self.sigma:
            return self.judge * (1 + self.spread * (2 * drawn - 1))
        z = statistics.NormalDist().inv_cdf(min(max(drawn, 1e-6), 1 - 1e-6))
        return self.judge * math.exp(self.sigma * z - self.sigma**2 / 2)


# The first of a workload is slow in what `cold` counts: no candidate takes longer than this.
MOST_SECONDS = 3.0


@dataclass(slots=True)
class Card:
    """What one GPU did: seconds made ready, seconds judging, and until when it works."""

    ready: bool = False
    cold: float = 0.0
    busy: float = 0.0
    until: float = 0.0


@dataclass(slots=True)
class VirtualDispatcher:
    """GPUs whose work is only counted; `now` is the clock, in seconds."""

    gpus: int
    answer: Callable[[Kernel], Verdict]
    pace: Pace = field(default_factory=Pace)
    rehearse: bool = True
    recorded: bool = False
    cpu: bool = False
    compilers: int = 4
    now: float = 0.0
    cards: list[Card] = field(default_factory=list)
    sent: int = 0
    _waiting: list[Compiled] = field(default_factory=list)
    _running: set[tuple[str, ...]] = field(default_factory=set)
    _known: set[tuple[str, ...]] = field(default_factory=set)
    _compiled_at: dict[str, float] = field(default_factory=dict)
    _events: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    _count: itertools.count[int] = field(default_factory=itertools.count)
    _free_at: list[float] = field(default_factory=list)
    _cpu_seen: float = field(default_factory=time.process_time)

    def __post_init__(self) -> None:
        self.cards = [Card() for _ in range(self.gpus)]
        self._free_at = [0.0] * (self.compilers * self.gpus)

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        """Return verdicts, for each of which the clock goes on when it is looked at."""
        self._catch_up()
        tickets = [self._compiled(job, Rank.CHOSEN) for job in jobs]
        self.sent += len(jobs)
        if self.rehearse:
            for job in filter(rehearsable, jobs):
                for _ in self.cards[1:]:
                    self._compiled(replace(job, effort=Effort.SCREEN), Rank.REHEARSAL)

        def prefer(place: int, urgent: bool) -> None:
            tickets[place].rank = Rank.CHOSEN if urgent else Rank.FORESEEN

        def there(place: int) -> bool:
            self._catch_up()
            return tickets[place].verdict.done()

        return Awaited(len(jobs), lambda place: self._taken(tickets[place]), there, prefer)

    def expect(self, jobs: Sequence[Job]) -> bool:
        """Compile jobs that are not asked for yet."""
        self._catch_up()
        for job in jobs:
            self._compile(job.kernel)
        return True

    def _compile(self, kernel: Kernel) -> float:
        """Return when a kernel is compiled: once, by one compiler after the other."""
        if kernel.digest not in self._compiled_at:
            seconds = self.pace.compile
            if self.recorded:
                seconds = self.answer(kernel).seconds.get("compile", seconds)
            at = max(self.now, heapq.heappop(self._free_at)) + seconds
            heapq.heappush(self._free_at, at)
            self._compiled_at[kernel.digest] = at
        return max(self.now, self._compiled_at[kernel.digest])

    def _compiled(self, job: Job, rank: Rank) -> Compiled:
        built: Future[tuple[Built, Built]] = Future()
        code = job.kernel.digest
        if int(code, 16) % self.pace.twins == 0 and job.kernel != job.baseline:
            code = f"twin {int(code, 16) // self.pace.twins % 4}"
        made = Built({"machine_code": code}, None)
        ticket = Compiled(job, next(self._count), rank, built=built, key_of=_code)
        self._waiting.append(ticket)
        at = self._compile(job.kernel)
        self._at(at, lambda: built.set_result((made, made)))
        return ticket

    def _taken(self, ticket: Compiled) -> Verdict:
        self._catch_up()
        while not ticket.verdict.done():
            at, _, happen = heapq.heappop(self._events)
            self.now = max(self.now, at)
            happen()
            self._give()
        self._cpu_seen = time.process_time()
        return ticket.verdict.result()

    def _catch_up(self) -> None:
        """Let happen what did while the search computed."""
        spent = time.process_time()
        until = self.now + (spent - self._cpu_seen if self.cpu else 0.0)
        while self._events and self._events[0][0] <= until:
            at, _, happen = heapq.heappop(self._events)
            self.now = max(self.now, at)
            happen()
            self._give()
        self.now, self._cpu_seen = until, time.process_time()

    def _give(self) -> None:
        """Give free GPUs what they would take."""
        for card in self.cards:
            while card.until <= self.now and (ticket := first(self._waiting, self._running)):
                self._waiting.remove(ticket)
                self._begin(ticket, card)

    def _begin(self, ticket: Compiled, card: Card) -> None:
        key, verdict = ticket.key, self.answer(ticket.job.kernel)
        if key in self._known or (ticket.rank is Rank.REHEARSAL and card.ready):
            ticket.verdict.set_result(verdict)
            return
        drawn = int(ticket.job.kernel.digest[:8], 16) / 0xFFFFFFFF
        seconds = self.pace.judging(drawn)
        if self.recorded and ticket.rank is not Rank.REHEARSAL:
            seconds = sum(verdict.seconds.get(part, 0.0) for part in ("verify", "time"))
            seconds = min(seconds, MOST_SECONDS)
        cold = 0.0 if card.ready else self.pace.cold
        card.ready = True
        card.cold, card.busy = card.cold + cold, card.busy + seconds
        card.until = self.now + cold + seconds
        self._running.add(key)

        def end() -> None:
            self._running.discard(key)
            self._known.add(key)
            ticket.verdict.set_result(verdict)

        self._at(card.until, end)

    def _at(self, when: float, happen: Callable[[], None]) -> None:
        heapq.heappush(self._events, (when, next(self._count), happen))


def _code(job: Job, built: Built) -> tuple[str, ...]:
    return (built.machine_code, job.effort.value, str(job.seed))


def run(gpus: int, given: argparse.Namespace, *, rehearse: bool) -> dict[str, object]:
    """Search on that many GPUs; return the row."""
    from scaling_recorded import Recorded, example

    from optimizer import plugins
    from optimizer.boundary import violations
    from optimizer.budget import Budget, SearchSettings
    from optimizer.diagnosis import Diagnosis
    from optimizer.policies.rules import RulePolicy
    from optimizer.search import search
    from optimizer.tools import Tools
    from optimizer.tuning import tune
    from runners.evaluator import DispatchedEvaluator

    kernel, workload = example(given.example)
    recorded = Recorded(given.example, 0.0)

    def answer(candidate: Kernel) -> Verdict:
        return recorded.dispatch([Job(candidate, kernel, workload)])[0]

    pace = Pace(sigma=given.sigma)
    fleet = VirtualDispatcher(
        gpus, answer, pace, rehearse=rehearse, recorded=given.recorded, cpu=given.cpu
    )
    tools = Tools(
        RulePolicy(plugins.rules(), workload.accept),
        DispatchedEvaluator(fleet, kernel),
        detectors=(Diagnosis({}),),
        tune=tune,
        boundary=violations,
        width=1 if gpus == 1 else 2 * gpus,
    )
    made = SearchSettings(
        window=given.window, finalists=0, confirmations=0, shorten=False, profile=False
    )
    marks: list[float] = []
    found = search(
        kernel,
        workload,
        tools,
        Budget(given.evaluations + 1),
        lambda _: marks.append(fleet.now),
        settings=made,
    )
    steps = " ".join(step.kernel.digest for step in found.steps)
    count, half = len(marks) - 1, len(marks) // 2
    per_minute = 60 * count / (marks[-1] - marks[0])
    return {
        "gpus": gpus,
        "window": given.window,
        "rehearsed": rehearse,
        "evaluations": count,
        "sent": fleet.sent,
        "per_minute": round(per_minute, 1),
        "steady_per_minute": round(60 * (count - half) / (marks[-1] - marks[half]), 1),
        "cold_seconds": [round(card.cold, 1) for card in fleet.cards],
        "busy": [round(card.busy / marks[-1], 2) for card in fleet.cards],
        "tree": hashlib.sha256(steps.encode()).hexdigest()[:8],
    }


def main() -> int:
    """Print a row for each number of GPUs, without and with rehearsals."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--example", default="softmax")
    parser.add_argument("--evaluations", type=int, default=63)
    parser.add_argument("--window", type=int, default=8)
    parser.add_argument("--gpus", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--cpu", action="store_true")
    parser.add_argument("--recorded", action="store_true", help="each what it took there")
    parser.add_argument("--sigma", type=float, default=0.0, help="0: differing evenly")
    given = parser.parse_args()
    for rehearse in (False, True):
        for gpus in given.gpus:
            print(json.dumps(run(gpus, given, rehearse=rehearse)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
