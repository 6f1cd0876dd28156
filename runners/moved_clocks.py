"""Is host code right at another time, too? Runs an entry function with its clock moved on.

What waits longer than the pauses of the static gate, or for a date, a weekday or an hour, is found
so without waiting: an object that is loaded may be given clocks of its own (`runners.clocks`). It
is loaded anew for that, and its clock only ever goes ahead. Nothing that is timed has such clocks.

Asked of a candidate that may edit host code and asks for the time by a function that its original
does not, and of one whose original does, too, where their host code differs: what the original does
not survive either is then held against nobody.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from runners import one_run, static_gate
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.families import DECLARED
from runners.gpu import DeviceError, HungError
from runners.hosttext import host_digest
from runners.inputs import stream
from runners.run import Run
from runners.spec import JobSpec, Json

LAYER = "clock moved on"
MINUTE, HOUR, DAY = 60.0, 3600.0, 86400.0
LONGEST = 400 * DAY
# Always asked, and what is drawn between each of them and the one before: one in each of so many
# equal parts, so that no twelfth of a minute, an hour, a day or a year is left out.
NAMED = {MINUTE: "a minute", HOUR: "an hour", DAY: "a day", LONGEST: "400 days"}
PARTS = {MINUTE: 24, HOUR: 24, DAY: 36, LONGEST: 40}
# Runs before the clock is moved, and at each of the named (one where that is much of the time);
# all of it is to take so many seconds, and ends where it takes twice as long.
BEFORE, AT_NAMED, SECONDS = 12, 3, 8.0
# What it may take with processes that are started, and the original where it is asked, too.
LENT_SECONDS = 60.0
UNMOVED = "its host code was not run with its clock moved on: it could not be given another"


class Clocked(Protocol):
    """A loaded candidate whose clock may be moved. May raise the errors of `runners.gpu`."""

    clocked: bool

    def move(self, seconds: float) -> None:
        """Have its clock be so far ahead."""
        ...

    def run(self, combination: Combination, *, nan: bool, beside: bool, seconds: float) -> Run:
        """Run the candidate once in a fresh world."""
        ...


Load = Callable[[JobSpec, Json], Clocked]


def check(load: Load, request: Json, job: JobSpec, answers: Answers, report: Report) -> list[str]:
    """Raise `Wrong` for an entry function that is not right later on; return what is to be noted.

    `load` loads a pair with clocks; the one that was loaded before is then no more.
    """
    theirs = asked(request, job)
    if theirs is None:
        return []
    session = load(job, request)
    if not session.clocked:
        return [UNMOVED]
    try:
        return _moved(session, answers, job, report)
    except Wrong as wrong:
        if not theirs or not _fails(load, request, job, answers):
            raise
        report.forget(LAYER)
        return [f"not checked with its clock moved on: the original fails, too ({wrong})"]


def asked(request: Json, job: JobSpec) -> frozenset[str] | None:
    """Return the functions by which the original knows the time; None where nothing is asked."""
    if job.work.kind != "entry" or job.kernel == job.baseline:
        return None
    return asked_of(request, (job.kernel.source, job.baseline.source))


def asked_of(request: Mapping[str, Any], sources: tuple[str, str]) -> frozenset[str] | None:
    """Return the same of host code in general, with the sources of candidate and original."""
    accept = request["job"]["workload"].get("accept") or {}
    if not accept.get("edit_host"):
        return None
    mine, theirs = (_clocks(request[which]) for which in ("candidate", "baseline"))
    if mine - theirs:
        return theirs
    return theirs if mine and host_digest(sources[0]) != host_digest(sources[1]) else None


def _clocks(artifact: Mapping[str, Any]) -> frozenset[str]:
    path = Path(str(artifact.get("path") or ""))
    return static_gate.clocks(path.read_bytes()) if path.is_file() else frozenset()


def moves(rng: np.random.Generator, most: int) -> list[float]:
    """Return by how many seconds a clock is moved on, one farther than the other.

    Those that have a name are always among them; of the others, which are drawn, at most so many,
    as evenly as can be.
    """
    drawn: list[float] = []
    least = 0.0
    for end, parts in PARTS.items():
        width = (end - least) / parts
        drawn += [least + width * (n + float(rng.random())) for n in range(parts)]
        least = end
    kept = min(len(drawn), max(0, most))
    chosen = [drawn[n * len(drawn) // kept] for n in range(kept)]
    return sorted([*NAMED, *chosen])


def words(seconds: float) -> str:
    """Say how far a clock was moved on.

    >>> words(3600.0), words(41.26), words(5400.0), words(9e6)
    ('an hour', '41.3 seconds', '90.0 minutes', '104.2 days')
    """
    if seconds in NAMED:
        return NAMED[seconds]
    for size, name in ((DAY, "days"), (HOUR, "hours"), (MINUTE, "minutes")):
        if seconds >= 2 * size or (size == MINUTE and seconds >= size):
            return f"{seconds / size:.1f} {name}"
    return f"{seconds:.1f} seconds"


class _Runs:
    """Runs of one candidate, of which each is compared; poison and NaN by turns."""

    def __init__(self, session: Clocked, answers: Answers, job: JobSpec, report: Report) -> None:
        self._session, self._answers, self._job, self._report = session, answers, job, report
        self.made = 0

    def of(self, combination: Combination, count: int) -> None:
        """Run it so often; raise `Wrong`, also for what does not end or crashes."""
        limit = self._answers.patience(combination)
        for _ in range(count):
            self.made += 1
            nan = self.made % 2 == 1
            made = partial(self._session.run, combination, nan=nan, beside=False, seconds=limit)
            for run in one_run.settled(made):
                one_run.judge(self._report, self._job, self._answers, combination, run, LAYER)
                self._report.runs += 1

    def settle(self) -> None:
        """Ask the original about what rounding may have decided."""
        one_run.dispel(self._report, self._answers)


def _moved(session: Clocked, answers: Answers, job: JobSpec, report: Report) -> list[str]:
    """Run it with its clock as it is, then farther and farther on; raise `Wrong`.

    The smallest declared case at all of these, each other one at those that have a name.
    """
    declared = [Combination(case.values, DECLARED, job.seed) for case in job.work.cases]
    declared.sort(key=lambda c: job.work.elements(c.case))
    runs, begun, where = _Runs(session, answers, job, report), time.monotonic(), ""
    try:
        while runs.made < BEFORE and time.monotonic() - begun < SECONDS / 4:
            runs.of(declared[0], 1)
        each = (time.monotonic() - begun) / runs.made
        room = int(SECONDS / max(each, 1e-6)) - runs.made
        again = AT_NAMED if room > 2 * AT_NAMED * len(NAMED) else 1
        most = room - again * len(NAMED)
        chosen = moves(stream(job.seed, "clock", job.kernel.digest), most)
        for number, seconds in enumerate(chosen):
            if time.monotonic() - begun > 2 * SECONDS:
                return [f"its clock was moved on {number} times, not {len(chosen)}: {where} last"]
            where = words(seconds)
            session.move(seconds)
            runs.of(declared[0], again if seconds in NAMED else 1)
            for other in declared[1:] if seconds in NAMED else ():
                if time.monotonic() - begun < SECONDS:
                    runs.of(other, 1)
        runs.settle()
    except Wrong as wrong:
        raise Wrong(wrong.status, f"{_with(where)}: {wrong}") from wrong
    except DeviceError as error:
        status = "timed out" if isinstance(error, HungError) else "crashed"
        raise Wrong(status, f"{_with(where)}: {error}") from error
    return []


def _with(where: str) -> str:
    return f"with its clock {where} on" if where else "loaded anew"


def _fails(load: Load, request: Json, job: JobSpec, answers: Answers) -> bool:
    """Tell whether the original fails, too; it is run where the candidate was."""
    same = replace(job, kernel=job.baseline)
    try:
        session = load(same, {**request, "candidate": request["baseline"]})
        _moved(session, answers, same, Report())
    except (Wrong, DeviceError):
        return True
    return False
