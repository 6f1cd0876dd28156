"""Delays of warps where a candidate is large: at what it is timed on, and on grids that are full.

What small cases do not come to is a second piece of work for a block, a ring that is used again, a
hundred thousand blocks. Nobody knows how much longer delays make a run: ten times, or a thousand
where threads wait for each other. So what a run took tells what a larger one may take, as elements
or the original's times grow: what may take too long is not run. What does not end in spite of that
says nothing about a candidate.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial

from runners import equal_parts, full_grids, one_run, verify
from runners.answers import Answers
from runners.checks import Report
from runners.contents import Combination
from runners.families import DECLARED
from runners.full_grids import FAMILIES, SHAKEN_ELEMENTS, TWICE
from runners.gpu import LaunchError, OutOfMemoryError
from runners.inputs import stream
from runners.session import Shaken
from runners.spec import JobSpec

# What a run of the original may take there, with what its host does; seconds for all runs, what one
# may take as far as it is known, and how long it is waited for.
ORIGINAL_SECONDS, SECONDS, EXPECTED, PATIENCE = 0.25, 4.0, 20.0, 60.0
RUNS = 3
# The least time (s) of the original's that is more than what a host needs for any run.
LEAST_SECONDS = 1e-3


def shaken(
    session: Shaken,
    answers: Answers,
    job: JobSpec,
    wanted: Sequence[Combination],
    report: Report,
) -> None:
    """Run the candidate on large cases under delays of its warps, as there is time; raise `Wrong`.

    Each once, then each again. Also raises the errors of `runners.gpu` where a run does not end.
    """
    large = chosen(job, answers, wanted)
    if not large:
        return
    rng = stream(job.seed, "shaken at large", job.kernel.digest)
    deadline = time.monotonic() + SECONDS
    took: dict[str, float] = {}
    for number, combination in enumerate([*_before(job, answers, wanted), *(large * RUNS)]):
        again = took.get(combination.key, 0.0)
        if time.monotonic() + again > deadline:
            break
        if not again and _expected(job, answers, combination, took, wanted) > EXPECTED:
            continue
        seed, nan = int(rng.integers(1, 2**32)), number % 2 == 1
        begun = time.monotonic()
        made = partial(session.run, combination, nan=nan, seed=seed, seconds=PATIENCE)
        try:
            runs = one_run.settled(made)
        except (LaunchError, OutOfMemoryError):
            break  # what does not fit with delays is not refused
        took[combination.key] = (time.monotonic() - begun) / len(runs)
        for run in runs:
            one_run.judge(report, job, answers, combination, run, "delayed warps")
            report.runs += 1
    one_run.dispel(report, answers)


def chosen(job: JobSpec, answers: Answers, wanted: Sequence[Combination]) -> list[Combination]:
    """Return combinations too large for many delayed runs that deserve some, the lighter first.

    The largest declared one; where nothing lighter has the blocks of a full grid go round, the
    lightest in which they do; and where blocks meet in nothing lighter, the lightest in which they
    do that do not where it is declared.
    """
    known = verify.launched(job, answers)

    def weight(one: Combination) -> int:
        return job.work.elements(one.case)

    fit = [
        c
        for c in wanted
        if c.family in FAMILIES
        and weight(c) > SHAKEN_ELEMENTS
        and known(c) is not None
        and answers.seconds(c) <= ORIGINAL_SECONDS
    ]
    fit.sort(key=weight)
    declared = [c for c in fit if c.family == DECLARED and one_run.is_declared(job, c)][-1:]
    found = [*declared, *_going_round(job, answers, wanted, fit, declared)]
    if not verify.meeting(job, answers, wanted):
        often = equal_parts.repeated(job, wanted)
        found += [c for c in fit if c in often and c not in found][:1]
    return sorted(found, key=weight)


def _going_round(
    job: JobSpec,
    answers: Answers,
    wanted: Sequence[Combination],
    fit: Sequence[Combination],
    declared: Sequence[Combination],
) -> list[Combination]:
    """Return the lightest in which blocks of a full grid go round, where nothing else has them."""
    if verify.going_round(job, answers, wanted, declared):
        return []
    pieces = {c.key: full_grids.turns(job, c.case) for c in fit}
    most = max(pieces.values(), default=1.0)
    if most <= 1 or any(pieces[c.key] >= min(TWICE, most) for c in declared):
        return []
    return [next(c for c in fit if pieces[c.key] >= min(TWICE, most))]


def _before(job: JobSpec, answers: Answers, wanted: Sequence[Combination]) -> list[Combination]:
    """Return the largest combination that is no risk, which tells how long larger ones may take."""
    fit = [c for c in verify.light(job, answers, wanted) if c.family in FAMILIES]
    return sorted(fit, key=lambda c: job.work.elements(c.case))[-1:]


def _expected(
    job: JobSpec,
    answers: Answers,
    combination: Combination,
    took: Mapping[str, float],
    wanted: Sequence[Combination],
) -> float:
    """Return what a first run may take (s), by the largest that was made; 0 before any."""
    made = [c for c in wanted if c.key in took]
    if not made:
        return 0.0
    one = max(made, key=lambda c: job.work.elements(c.case))
    larger = job.work.elements(combination.case) / max(1, job.work.elements(one.case))
    longer = answers.seconds(combination) / max(LEAST_SECONDS, answers.seconds(one))
    return took[one.key] * max(1.0, larger, longer)
