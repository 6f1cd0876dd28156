"""As many calls as it takes for a narrow count of a candidate's host code to run over.

A table that stays from call to call, and tells by a round of 16 bits what is of this call, is right
for 65,535 of them. Where the text has such a count (`runners.narrow_counts`), and its original's
has none, that many calls are made without a look at each, and then some that are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from runners import one_run
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.compare import Answer
from runners.contents import Combination
from runners.gpu import DeviceError, HungError
from runners.narrow_counts import periods
from runners.rows import ROW_CALLS, ROW_ELEMENTS
from runners.session import Session
from runners.spec import MOVED, JobSpec, Json

LAYER = "many calls"
# Of counts that run over after other numbers of calls, so many; for the calls of one stretch, and
# for all of them.
MOST_COUNTS, SECONDS, ALL_SECONDS = 2, 4.0, 12.0
# A count may stand still in some calls: so many more.
BESIDE = 8
# Elements of an answer that are not what most are: with so many the contents matter.
ENOUGH = 64


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is called at one size: contents that matter most, all others, what touches little."""

    base: Combination
    others: tuple[Combination, ...]
    thin: Combination

    def stretches(
        self, count: int
    ) -> list[tuple[tuple[Combination, ...], int, tuple[Combination, ...]]]:
        """Return what is called by turns, how often in all, and what is then compared.

        What an earlier round left is wrong once its count has run over, if rounds are in an order.
        If they are compared for being the same it is so exactly as many calls later, where none
        in between has touched it: what the last call of a row has left, for the second of the next.
        A row is begun by a call more, on its first contents.
        """
        others = self.others[: ROW_CALLS - 2] or (self.base,)
        return [
            ((self.base, *others), count + BESIDE, (self.thin, *others, self.base)),
            ((self.thin,), count - 3, (self.thin, *others, others[0])),
            ((self.thin,), count - 3, (self.thin, self.base, *others)),
        ]


def check(
    session: Session,
    load: Callable[[JobSpec, Json], Session],
    request: Json,
    job: JobSpec,
    known: tuple[Answers, Sequence[Combination]],
    measured: Json,
    report: Report,
) -> None:
    """Raise `Wrong` for an entry function that is wrong when a count of its own has run over.

    `load` loads a pair where `session` is: the original has to survive what a candidate does not.
    `measured` takes a note of what there was no time for.
    """
    answers, wanted = known
    if job.work.kind != "entry" or job.kernel == job.baseline or periods(job.baseline.source):
        return
    counts = periods(job.kernel.source)[:MOST_COUNTS]
    plan = _plan(job, wanted, answers.of) if counts else None
    if plan is None:
        return
    try:
        notes = _called(session, answers, job, plan, counts, report)
    except Wrong as wrong:
        if not _fails(load, request, job, (answers, plan, counts)):
            raise
        notes = [f"many calls not checked: the original fails, too ({wrong})"]
        report.forget(LAYER)
        load(job, request)
    measured["notes"] += notes


def _plan(
    job: JobSpec,
    wanted: Sequence[Combination],
    known: Callable[[Combination], Mapping[str, Answer] | None],
) -> _Plan | None:
    """Return what is called; None where nothing small has an answer.

    It is the smallest declared case whose answers tell anything, or else the one that tells most:
    where all is the same, what was left by other calls is not seen.
    """
    told: dict[str, int] = {}
    cases: dict[tuple[tuple[str, float], ...], list[Combination]] = {}
    for one in wanted:
        light = job.work.elements(one.case) <= ROW_ELEMENTS and MOVED not in one.case
        found = known(one) if light and one.key not in told else None
        if found is not None:
            told[one.key] = sum(map(_told, found.values()))
            cases.setdefault(tuple(sorted(one.case.items())), []).append(one)
    declared = [dict(case.values) for case in job.work.cases]

    def weight(group: Sequence[Combination]) -> tuple[int, bool, int]:
        case = group[0].case
        most = sorted(min(ENOUGH, told[one.key]) for one in group)
        return sum(most[-2:]), dict(case) in declared, -job.work.elements(case)

    if not cases:
        return None
    chosen = max(cases.values(), key=weight)
    chosen.sort(key=lambda one: -min(ENOUGH, told[one.key]))
    thin = min(reversed(chosen), key=lambda one: told[one.key])
    if told[thin.key] >= ENOUGH:
        thin = min(chain.from_iterable(cases.values()), key=lambda one: told[one.key])
    return _Plan(chosen[0], tuple(chosen[1:]), thin)


def _told(answer: Answer) -> int:
    """Return how many elements of an answer are not what most of them are."""
    size = answer.type.size
    words = answer.want.view(f"u{size}" if size in {1, 2, 4, 8} else f"V{size}")
    _, counts = np.unique(words, return_counts=True)
    return len(words) - int(counts.max(initial=0))


def _called(
    session: Session,
    answers: Answers,
    job: JobSpec,
    plan: _Plan,
    counts: Sequence[int],
    report: Report,
) -> list[str]:
    """Call it until each count has run over; return notes on what was not reached."""
    deadline = time.monotonic() + ALL_SECONDS
    made = 0
    for count in counts:
        for contents, calls, row in plan.stretches(count):
            seconds = min(SECONDS, deadline - time.monotonic())
            if seconds <= 0:
                return [f"{calls:,} calls in a row, for a count that runs over, were not made"]
            try:
                done = _stretch(session, answers, contents, calls, seconds)
                made += done
                _judged(session, answers, job, row, report)
            except Wrong as wrong:
                raise Wrong(wrong.status, f"after {made:,} calls: {wrong}") from wrong
            except DeviceError as error:
                status = "timed out" if isinstance(error, HungError) else "crashed"
                words = f"in {made + calls:,} calls in a row: {error}"
                raise Wrong(status, words) from error
            made += len(row) + 1
            if done < calls:
                words = f"{done:,} calls were made in {seconds:.2g} s"
                return [f"a count that runs over after {count:,} calls was not reached: {words}"]
    return []


def _stretch(
    session: Session,
    answers: Answers,
    contents: Sequence[Combination],
    calls: int,
    seconds: float,
) -> int:
    """Call it so often, on each of some contents for as long; return how often it was."""
    deadline = time.monotonic() + seconds
    made = 0
    for number, one in enumerate(contents):
        share = calls * (number + 1) // len(contents) - made
        left = max(0.0, deadline - time.monotonic())
        done = session.many(one, share, left, answers.patience(one))
        made += done
        if done < share:
            break
    return made


def _judged(
    session: Session,
    answers: Answers,
    job: JobSpec,
    row: Sequence[Combination],
    report: Report,
) -> None:
    """Compare one call behind the other; raise `Wrong`."""
    limit = max(1.0, sum(min(answers.patience(one), 5.0) for one in row))
    runs = session.row(row, nan=True, apart=False, seconds=limit)
    for combination, run in zip(row, runs, strict=True):
        one_run.judged(report, job, answers, combination, run, LAYER)


def _fails(
    load: Callable[[JobSpec, Json], Session],
    request: Json,
    job: JobSpec,
    terms: tuple[Answers, _Plan, Sequence[int]],
) -> bool:
    """Tell whether the original fails at the same calls; it is run where the candidate was."""
    answers, plan, counts = terms
    same = replace(job, kernel=job.baseline)
    try:
        session = load(same, {**request, "candidate": request["baseline"]})
        _called(session, answers, same, plan, counts, Report())
    except (Wrong, DeviceError):
        return True
    return False
