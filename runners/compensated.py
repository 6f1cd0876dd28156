"""Does a candidate keep the digits that its original keeps of sums that cancel? Refused if not.

An original that is exact beyond its own type carries the rounding errors of its sums along. What
it is written for are rows of which nearly everything cancels, and there a candidate that drops some
of these errors has nothing right. For all other contents it is as good as the original, and how far
that is from itself on inputs moved by a rounding error allows anything where a sum cancels.

So where the original's text looks as if it did that, it is asked (`runners.cancelling`) whether it
gives the same for two inputs that are the same problem. Only where it does so in every result, and
each result shows what cancels, a candidate has to give that, too, to a hundredth of what would be
lost: how it adds up is its own business, in twice the digits, in whole numbers or in doubles.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from runners import cancelling, sizes
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.cuda_types import to_float, values
from runners.families import DECLARED, captured_work
from runners.fault import Fault
from runners.gpu import DeviceError, LaunchError, OutOfMemoryError
from runners.other_values import LONGEST_CHECK, MOST_SECONDS, aside
from runners.session import Session
from runners.spec import JobSpec, Work
from runners.text import LONGEST

LAYER = "sums that cancel"
# What all runs of a candidate may take; elements of a case, and how many cases there are.
SECONDS, MOST_ELEMENTS, MOST_CASES = 2.0, 1 << 18, 2
# A candidate may be off by so many times what the original may be.
TIMES = 4.0
# What is rounded as it is written, wide whole numbers, what a product lost, and a difference that
# is added to something or taken from it.
_OPERAND = r"\*?[A-Za-z_](?:\w|\.|->)*(?:\[[^\]\n]{1,40}\])?"
_GAP = rf"\(\s*{_OPERAND}\s*-\s*{_OPERAND}\s*\)"
_KEEPS = re.compile(
    r"__[df](?:add|sub|ma|maf|mul)_r[nzdu]\b|\b__int128\b"
    rf"|\bfmaf?\s*\([^;()\n]{{1,80}},\s*-|{_GAP}\s*[-+]|[-+]\s*{_GAP}",
    re.ASCII,
)


@lru_cache(maxsize=64)
def keeps(text: str) -> bool:
    """Tell whether a text looks as if it kept rounding errors.

    >>> keeps("double e = (t - s) - y;"), keeps("e = __fma_rn(a, b, -p);"), keeps("s += a - b;")
    (True, True, False)
    """
    return len(text) <= LONGEST and _KEEPS.search(text) is not None


def asked(job: JobSpec, answers: Answers, wanted: Sequence[Combination]) -> list[Combination]:
    """Return what is run: each array's sums, in the cases in which rows are longest."""
    work, count = job.work, sum(1 for _ in cancelling.usable(job.work))
    written = [a.type.scalar for a in work.arguments if a.written]
    fine = all(one is not None and one.name in cancelling.DIGITS for one in written)
    # Of floats that are summed up in doubles other ways are right that lose more than these.
    read = {a.type.fields[0].scalar.name for a in cancelling.usable(work)}
    mixed = work.precise and "float" in read
    if not count or not fine or mixed or work.loose or captured_work(work):
        return []
    if job.kernel == job.baseline or not keeps(job.baseline.source):
        return []
    return [
        replace(one, family=family)
        for one in _cases(work, answers, wanted)
        for family in cancelling.FAMILIES[: 2 * count]
    ]


def _cases(work: Work, answers: Answers, wanted: Sequence[Combination]) -> list[Combination]:
    """Return the cases in which each size is longest, of those that are asked anyway and light."""
    fit = [
        one
        for one in wanted
        if one.family == DECLARED
        and one.key in answers.described
        and 0 < sizes.elements(work, one.case) <= MOST_ELEMENTS
        and answers.seconds(one) <= MOST_SECONDS
    ]
    found: list[Combination] = []
    for name in sizes.sizing(work) if fit else ():
        longest = max(
            fit, key=lambda one: (one.case.get(name, 0.0), -sizes.elements(work, one.case))
        )
        found += [] if longest in found else [longest]
    found.sort(key=lambda one: -max(one.case.values(), default=0.0))
    return found[:MOST_CASES]


def check(
    load: Callable[[], Session],
    answers: Answers,
    job: JobSpec,
    wanted: Sequence[Combination],
    deadline: float,
    report: Report,
) -> tuple[list[str], bool]:
    """Run a candidate on them; raise `Wrong`, or return a note, and if the device is lost."""
    every = asked(job, answers, wanted)
    if not every or answers.ask is None:
        return [], False
    if deadline - time.monotonic() < LONGEST_CHECK:
        return [f"{LAYER} not tried: there is no time left"], False
    with aside(answers, every):
        fit = [one for one in every if _exact(answers, one)]
        return [], bool(fit) and _compared(load(), answers, job, fit, report)


def _exact(answers: Answers, one: Combination) -> bool:
    """Tell whether the original has results that are right to the end, in their order."""
    described = answers.described.get(one.key)
    return described is not None and not any(o["unordered"] for o in described["outputs"])


def _compared(
    session: Session,
    answers: Answers,
    job: JobSpec,
    every: Sequence[Combination],
    report: Report,
) -> bool:
    until = time.monotonic() + SECONDS
    for one in every:
        if time.monotonic() > until:
            break
        try:
            words = _lost(session, answers, one)
            if words and session.renewed(one):
                words = _lost(session, answers, one)
        except (OutOfMemoryError, Fault):
            continue
        except DeviceError as error:
            return not isinstance(error, LaunchError)
        report.runs += 1
        shown = _shown(job.work, one)
        report.add(LAYER, shown, passed=not words, error=None, bound=None)
        if words:
            raise Wrong(
                "wrong result", f"{words} with {shown}, of which the original loses nothing"
            )
    return False


def _shown(work: Work, one: Combination) -> str:
    place, _, number = one.family.rpartition(" ")
    lines = "rows" if place == cancelling.ALONG else "columns"
    return f"numbers that cancel in {lines} of {[*cancelling.usable(work)][int(number)].name}"


def _lost(session: Session, answers: Answers, one: Combination) -> str:
    """Say what a candidate loses; nothing where it is as exact as its original."""
    run = session.run(one, nan=False, beside=False, seconds=answers.patience(one))
    for name, answer in (answers.of(one) or {}).items():
        only, place = answer.type.scalar, answer.type.fields[0]
        if only is None or only.name not in cancelling.DIGITS:
            continue
        want, got = (
            to_float(values(data, answer.type, place), only).astype(np.float64)
            for data in (answer.want, run.outputs[name])
        )
        if not np.isfinite(want).all():
            continue
        off = cancelling.beyond(got, want, TIMES * cancelling.LINE[only.name])
        if off.any():
            at = int(np.argmax(off))
            return f"{name}[{at}]: got {got[at]:.9g}, want {want[at]:.9g}"
    return ""
