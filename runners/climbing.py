"""Runs that may take longer by the square of a size: the shortest first, each next if it is quick.

Right code may take a time there that its original does not take. So nothing is asked that is not
likely to be quick by what the last took, and what does not come to an end in spite of that is
noted, and held against nobody (`runners.piled_up`, `runners.nearly_piled`, `runners.led_along`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

from runners import one_run
from runners.answers import Answers
from runners.checks import Report
from runners.contents import Combination
from runners.fault import Fault
from runners.gpu import DeviceError, HungError, OutOfMemoryError
from runners.other_values import LONGEST_CHECK, aside
from runners.session import Session
from runners.spec import JobSpec

# How a time may grow with a size, how many times as large the next one is, and how long a run is
# waited for (s).
POWER, STEP, PATIENCE = 2, 4, 10.0


@dataclass(frozen=True, slots=True)
class Limits:
    """The layer that asks, what a run may be likely to take, and what all of them may (s)."""

    layer: str
    expected: float
    seconds: float


Lines = Sequence[Iterable[Sequence[Combination]]]


def check(
    load: Callable[[], Session],
    answers: Answers,
    job: JobSpec,
    asked: Sequence[Combination],
    told: Callable[[], Lines],
    until: tuple[float, Report],
    limits: Limits,
) -> tuple[list[str], bool]:
    """Run a candidate on what the original tells of it; raise `Wrong` and device errors.

    `asked` is what the original may be asked, `told` returns the lines of which its answers tell,
    and `until` is a deadline and where checks are written down.

    Return a note where one did not come to an end, and whether the device is lost.
    """
    deadline, report = until
    if job.kernel == job.baseline or not asked or answers.ask is None or answers.unordered():
        return [], False
    if deadline - time.monotonic() < LONGEST_CHECK:
        return [f"{limits.layer} not tried: there is no time left"], False
    with aside(answers, asked):
        lines = told()
        if not lines:
            return [], False
        try:
            session = load()
        except (DeviceError, Fault):
            return [], False
        return climbed(session, answers, job, lines, report, limits)


def climbed(
    session: Session,
    answers: Answers,
    job: JobSpec,
    lines: Iterable[Iterable[Sequence[Combination]]],
    report: Report,
    limits: Limits,
) -> tuple[list[str], bool]:
    """Run a candidate along lines, of each the shortest first; raise `Wrong` and device errors.

    Return a note where one did not come to an end, and whether the device is lost.
    """
    until = time.monotonic() + limits.seconds
    for line in lines:
        for asked in line:
            try:
                took = _twice(session, answers, job, asked, report, limits.layer)
            except (OutOfMemoryError, Fault):
                break
            except HungError as error:
                return [f"{limits.layer} not tried to the end: {error} ({asked[0].key})"], True
            if took * STEP**POWER > limits.expected or time.monotonic() > until:
                break
    return [], False


def _twice(
    session: Session,
    answers: Answers,
    job: JobSpec,
    asked: Sequence[Combination],
    report: Report,
    layer: str,
) -> float:
    """Judge two runs of each; return what the slowest took (s), its inputs made before."""
    took = 0.0
    for one in asked:
        for number in (0, 1):
            begun = time.monotonic()
            made = partial(session.run, one, nan=number == 1, beside=False, seconds=PATIENCE)
            one_run.renewing(session, answers, job, one, made, report, layer)
            # The first has its inputs made and uploaded.
            took = max(took, time.monotonic() - begun) if number else took
    return took
