"""As many calls as it takes for a narrow count of a candidate's host code to run over.

A table that stays from call to call, and tells by a round of 16 bits what is of this call, is right
for 65,535 of them. Where the text has such a count (`runners.narrow_counts`), and its original's
has none, that many calls are made without a look at each, and then some that are compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from runners import one_run
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.families import ALIKE, DECLARED, EQUAL
from runners.gpu import DeviceError, HungError
from runners.narrow_counts import periods
from runners.rows import ROW_CALLS, base_of
from runners.session import Session
from runners.spec import JobSpec, Json

LAYER = "many calls"
# Of counts that run over after other numbers of calls, so many; for the calls of one stretch, and
# for all of them.
MOST_COUNTS, SECONDS, ALL_SECONDS = 2, 4.0, 12.0
# A count may stand still in some calls: so many more.
BESIDE = 8
# Contents that touch little of what is kept: what an earlier call left there stays.
_THIN = (EQUAL, "one-hot", ALIKE)
# Contents that differ from the declared ones and touch much.
_RICH = frozenset({"mixed", "integers"})


@dataclass(frozen=True, slots=True)
class _Plan:
    """What is called at one size: as declared, what touches little, and all else that is there."""

    base: Combination
    thin: Combination
    others: tuple[Combination, ...]

    def stretches(self, count: int) -> list[tuple[Combination, int, tuple[Combination, ...]]]:
        """Return what is called how often without a look, and then compared, one after the other.

        What an earlier round left is wrong once its count has run over, if rounds are in an order.
        If they are compared for being the same it is so exactly as many calls later, where none
        in between has touched it: on other contents, and on the same. A row is begun by a call
        more, on its first contents.
        """
        behind = (*self.others[: ROW_CALLS - 2], self.base)
        twice = (self.base, *behind[: ROW_CALLS - 2], self.base)
        return [
            (self.base, count + BESIDE, (self.thin, *behind)),
            (self.thin, count - 3, (self.thin, *behind)),
            (self.thin, count - 3, (self.thin, *twice)),
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
    known: Callable[[Combination], Mapping[str, object] | None],
) -> _Plan | None:
    """Return what is called at the smallest declared case; None where that has no answer."""
    base = base_of(job, wanted)
    if known(base) is None:
        return None
    others = [
        one
        for one in wanted
        if dict(one.case) == dict(base.case) and one.family != DECLARED and known(one) is not None
    ]
    thin = [one for name in _THIN for one in others if one.family == name]
    rest = [one for one in others if one not in thin]
    rest.sort(key=lambda one: one.family not in _RICH)
    return _Plan(base, (thin or others or [base])[0], (*rest, *thin))


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
        for combination, calls, row in plan.stretches(count):
            left = min(SECONDS, deadline - time.monotonic())
            if left <= 0:
                return [f"{calls:,} calls in a row, for a count that runs over, were not made"]
            try:
                done = session.many(combination, calls, left, answers.patience(combination))
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
                words = f"{done:,} calls were made in {left:.2g} s"
                return [f"a count that runs over after {count:,} calls was not reached: {words}"]
    return []


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
