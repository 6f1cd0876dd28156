"""Is an infinity at the end of a row lost that is not lost within it? Refused where it is.

What stands behind the end of a row of factors is zero in one of them and may be anything in the
other, for numbers. Who repeats the last element there multiplies it by zero, which is NaN where
that is infinite and so is the original's sum. Right code may have NaN for an infinity as well,
which is let pass elsewhere (`runners.digest`): a factor that is split in parts, a compensated sum.
But that has it in any place of a row. So a candidate is run with infinities within rows first, and
refused only where it has none of the original's lost there and some of them at the ends.

It is asked where one of the two texts multiplies matrices on tensor cores, which is where such
parts are padded, and not of originals that take exponentials: a sum that is scaled anew as elements
come may be NaN in the places that a thread begins with.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from runners import asked, one_infinity, zeros_beside
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.cuda_types import to_float, values
from runners.fault import Fault
from runners.gpu import DeviceError, LaunchError, OutOfMemoryError
from runners.other_values import LONGEST_CHECK, MOST_SECONDS, aside, base, stable
from runners.session import Session
from runners.spec import JobSpec

LAYER = "infinite ends"
# What all runs of a candidate may take.
SECONDS = 2.0
_MATRICES = re.compile(r"wmma|mma_|mma\.|(?<![A-Za-z])mma(?![A-Za-z])", re.ASCII)

Pair = tuple[Combination, Combination]


def pairs(job: JobSpec, plain: Combination) -> list[Pair]:
    """Return what is run for each array: with infinities within its rows, and at their ends."""
    texts = (job.kernel.source, job.baseline.source)
    names = [*zeros_beside.usable(job.work)]
    if asked.EXPONENTIAL in job.work.calls or len(names) < 2 or not any(map(_matrices, texts)):
        return []
    return [
        (
            replace(plain, family=f"{one_infinity.WITHIN} {number}"),
            replace(plain, family=f"{one_infinity.LAST} {number}"),
        )
        for number in range(min(len(names), one_infinity.MOST_ARRAYS))
    ]


def _matrices(text: str) -> bool:
    return _MATRICES.search(text) is not None


def check(
    load: Callable[[], Session],
    answers: Answers,
    job: JobSpec,
    wanted: Sequence[Combination],
    deadline: float,
    report: Report,
) -> tuple[list[str], bool]:
    """Run a candidate with both; raise `Wrong`, or return a note, and if the device is lost."""
    plain = base(job, answers, wanted)
    every = [] if plain is None else pairs(job, plain)
    if plain is None or not every or answers.ask is None:
        return [], False
    if deadline - time.monotonic() < LONGEST_CHECK:
        return [f"{LAYER} not tried: there is no time left"], False
    with aside(answers, [one for pair in every for one in pair]):
        fit = [pair for pair in every if all(_quick(answers, plain, one) for one in pair)]
        return [], bool(fit) and _compared(load(), answers, job, fit, report)


def _quick(answers: Answers, plain: Combination, one: Combination) -> bool:
    return stable(answers, plain, one) and answers.seconds(one) <= MOST_SECONDS


def _compared(
    session: Session, answers: Answers, job: JobSpec, every: Sequence[Pair], report: Report
) -> bool:
    until = time.monotonic() + SECONDS
    for within, last in every:
        if time.monotonic() > until:
            break
        try:
            if _lost(session, answers, within) != "":
                continue
            words = _lost(session, answers, last)
            if words and session.renewed(last):
                words = _lost(session, answers, last)
        except (OutOfMemoryError, Fault):
            continue
        except DeviceError as error:
            return not isinstance(error, LaunchError)
        report.runs += 2
        if words is None:
            continue
        number = int(last.family.rpartition(" ")[2])
        name = [*zeros_beside.usable(job.work)][number].name
        shown = f"infinities at the ends of rows of {name}"
        report.add(LAYER, shown, passed=not words, error=None, bound=None)
        if words:
            raise Wrong("wrong result", f"{words} with {shown}, and not with some within them")
    return False


def _lost(session: Session, answers: Answers, one: Combination) -> str | None:
    """Say which infinity of the original is NaN; nothing for none, None where it has none."""
    run = session.run(one, nan=False, beside=False, seconds=answers.patience(one))
    seen = False
    for name, answer in (answers.of(one) or {}).items():
        only, place = answer.type.scalar, answer.type.fields[0]
        if only is None or only.kind != "f" or answer.unordered:
            continue
        want, got = (
            to_float(values(data, answer.type, place), only)
            for data in (answer.want, run.outputs[name])
        )
        infinite = np.isinf(want)
        seen |= bool(infinite.any())
        lost = np.flatnonzero(infinite & np.isnan(got))
        if len(lost):
            return f"{name}[{lost[0] // place.lanes}]: got nan, want {want[lost[0]]}"
    return "" if seen else None
