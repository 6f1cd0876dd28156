"""Is the first call of all right with zeros? What is kept is empty then, and that is zero, too.

A mark that is made of contents tells for which of them something was kept. Before the first call it
is zero, and so may be the mark of a key of zeros: what nobody has made is then taken for its own.
Behind any other call it is not. So the first call of a candidate that is loaded anew is made with
one array of zeros, each array in a load of its own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from runners import one_element, one_run
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.compare import Answer
from runners.contents import Combination
from runners.cuda_types import to_float, values
from runners.gpu import DeviceError, HungError
from runners.run import Run
from runners.spec import JobSpec, Json

LAYER = "first calls"
# For all of them: each may take a process that opens the device.
SECONDS = 15.0


class Called(Protocol):
    """What is asked of a loaded pair. May raise the errors of `runners.gpu`."""

    def run(self, combination: Combination, *, nan: bool, beside: bool, seconds: float) -> Run:
        """Run the candidate once in a fresh world."""
        ...


Load = Callable[[JobSpec, Json], Called]


def check(
    load: Load,
    request: Json,
    job: JobSpec,
    asked: Sequence[Combination],
    answers: Answers,
    report: Report,
) -> list[str]:
    """Raise `Wrong` for a first call that is not right; return what is to be noted.

    `asked` are contents with zeros (`runners.rows.zeroed`), `load` loads a pair. A candidate that
    fails as its original does, loaded anew in the same way, is not refused.
    """
    chosen = [one for one in asked if _told(answers, one)] if job.kernel != job.baseline else []
    notes: list[str] = []
    deadline = time.monotonic() + SECONDS
    for number, combination in enumerate(chosen):
        if time.monotonic() > deadline:
            left = ", ".join(_array(one) for one in chosen[number:])
            return [*notes, f"no first call made with zeros in {left}: there was no time left"]
        before, nan = report.snapshot(), number % 2 == 1
        try:
            _first(load(job, request), answers, job, combination, report, nan=nan)
        except Wrong as wrong:
            if not _fails(load, request, job, combination, answers, nan=nan):
                raise
            report.restore(before)
            words = f"the first call with {_array(combination)} all zeros is not checked"
            notes.append(f"{words}: the original fails, too ({wrong})")
    return notes


def _array(combination: Combination) -> str:
    one = one_element.change(combination.family)
    return one.name if one is not None else combination.family


def _told(answers: Answers, combination: Combination) -> bool:
    """Tell whether there are answers, and all are numbers.

    What is divided by zeros may be NaN in one right way of doing it and infinite in another.
    """
    found = answers.of(combination)
    return found is not None and all(map(_finite, found.values()))


def _finite(answer: Answer) -> bool:
    kind = answer.type
    floats = [one for one in kind.fields if one.scalar.kind == "f"]
    return all(
        bool(np.isfinite(to_float(values(answer.want, kind, one), one.scalar)).all())
        for one in floats
    )


def _fails(
    load: Load,
    request: Json,
    job: JobSpec,
    combination: Combination,
    answers: Answers,
    *,
    nan: bool,
) -> bool:
    """Tell whether the original's first call is not right either."""
    same = replace(job, kernel=job.baseline)
    try:
        session = load(same, {**request, "candidate": request["baseline"]})
        _first(session, answers, same, combination, Report(), nan=nan)
    except (Wrong, DeviceError):
        return True
    return False


def _first(
    session: Called,
    answers: Answers,
    job: JobSpec,
    combination: Combination,
    report: Report,
    *,
    nan: bool,
) -> None:
    """Make the first call of a pair; raise `Wrong`, also for what crashes."""
    limit = answers.patience(combination)
    try:
        run = session.run(combination, nan=nan, beside=False, seconds=limit)
    except DeviceError as error:
        if job.work.kind == "kernel":
            raise  # in this process: whether its context is lost is for others to tell
        status = "timed out" if isinstance(error, HungError) else "crashed"
        said = f"in its first call, with {_array(combination)} all zeros: {error}"
        raise Wrong(status, said) from error
    # A driver may be at work on what it sees for the first time; who is late is asked elsewhere.
    one_run.judged(report, job, answers, combination, replace(run, late_us=0.0), LAYER)
