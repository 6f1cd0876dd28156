"""Is it still right when one of its buffers is another one? Host code may keep where they were.

What is recorded for a call, as a graph of launches, is found again by some of its arguments: the
sizes, the inputs, the first output. A caller that keeps these and brings another buffer for the
rest gets what was made of the old one. Where all buffers lie elsewhere at once, or none does, such
a record is not found, or is right. It is asked of a candidate that is loaded anew, since what
keeps a few records may have no room left behind many sizes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol

from runners import one_run
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.families import DECLARED
from runners.gpu import DeviceError, HungError
from runners.run import Run
from runners.spec import JobSpec, Json

LAYER = "moved buffers"
# Calls that are brought back at once have so many elements together, and are no more than these.
AT_ONCE, MOST_CALLS = 1 << 22, 16
# Of a case, and of a workload's buffers; behind others these are not moved.
MOST_ELEMENTS, MOST_BUFFERS = 1 << 21, 16


class Moving(Protocol):
    """What is asked of a loaded pair. May raise the errors of `runners.gpu`."""

    def moved(
        self, combination: Combination, names: Sequence[str], *, nan: bool, seconds: float
    ) -> list[Run]:
        """Run the candidate with one buffer elsewhere at a time (`runners.bench.Bench.moved`)."""
        ...


Load = Callable[[JobSpec, Json], Moving]


def check(load: Load, request: Json, job: JobSpec, answers: Answers, report: Report) -> list[str]:
    """Raise `Wrong` for what is not right with one buffer elsewhere; return what is to be noted.

    `load` loads a pair. A candidate that fails with its original is not refused.
    """
    chosen = cases(job, answers)
    if not chosen or job.kernel == job.baseline:
        return []
    try:
        _moved(load(job, request), answers, job, chosen, report)
    except Wrong as wrong:
        same = replace(job, kernel=job.baseline)
        try:
            session = load(same, {**request, "candidate": request["baseline"]})
            _moved(session, answers, same, chosen, Report())
        except (Wrong, DeviceError):
            report.forget(LAYER)
            return [f"not checked with one buffer moved alone: the original fails, too ({wrong})"]
        raise
    return []


def cases(job: JobSpec, answers: Answers) -> list[Combination]:
    """Return the smallest and the largest declared case that are not too large for many calls."""
    declared = [Combination(case.values, DECLARED, job.seed) for case in job.work.cases]
    fit = [
        one
        for one in declared
        if 0 < job.work.elements(one.case) <= MOST_ELEMENTS and answers.of(one) is not None
    ]
    fit.sort(key=lambda one: job.work.elements(one.case))
    return list({one.key: one for one in (*fit[:1], *fit[-1:])}.values())


def buffers(job: JobSpec, combination: Combination) -> list[str]:
    """Return the names of the buffers that can be another one."""
    pointers = [a for a in job.work.arguments if a.type.pointer]
    return [a.name for a in pointers if a.elements(combination.case) > 0][:MOST_BUFFERS]


def _parts(names: Sequence[str], elements: int) -> Iterator[Sequence[str]]:
    """Yield names that are tried in one go: a call with each, and one behind it."""
    size = max(1, min(MOST_CALLS, AT_ONCE // max(1, elements)) // 2)
    yield from (names[at : at + size] for at in range(0, len(names), size))


def _moved(
    session: Moving,
    answers: Answers,
    job: JobSpec,
    chosen: Sequence[Combination],
    report: Report,
) -> None:
    """Run it on each case with each buffer elsewhere; raise `Wrong`, also for what crashes."""
    for number, combination in enumerate(chosen):
        for names in _parts(buffers(job, combination), job.work.elements(combination.case)):
            limit = max(1.0, 2 * len(names) * min(answers.patience(combination), 5.0))
            try:
                runs = session.moved(combination, names, nan=number % 2 == 1, seconds=limit)
            except DeviceError as error:
                if job.work.kind == "kernel":
                    raise  # in this process: whether its context is lost is for others to tell
                status = "timed out" if isinstance(error, HungError) else "crashed"
                said = f"with {', '.join(names)} elsewhere, one at a time: {error}"
                raise Wrong(status, said) from error
            for at, run in enumerate(runs):
                where = f"with {names[at // 2]} elsewhere" if at % 2 else "with all where they were"
                try:
                    one_run.judge(report, job, answers, combination, run, LAYER)
                except Wrong as wrong:
                    raise Wrong(wrong.status, f"{where}: {wrong}") from wrong
                report.runs += 1
    one_run.dispel(report, answers)
