"""Is room that is kept right for a call that needs more of it than the last? Sizes that grow.

Host code that makes room anew makes it larger than it needs, so that the next call that is a bit
larger needs no other. What it clears or fills at that time is all of it, or what this call needs:
then the next one reads what nobody wrote. Behind one much larger all of that was cleared, so sizes
grow by little here, in a candidate that is loaded anew, and what it allocates meanwhile is filled
(`runners/allocations/fill.cpp`): memory that no process had before is zero, and that looks clear.
Then they shrink, and grow again. Each variable that sizes a buffer by itself, and all together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from runners import each_extent, one_run, sizes
from runners.answers import Answers
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.families import DECLARED
from runners.gpu import DeviceError, HungError
from runners.session import Session
from runners.spec import JobSpec, Json, Work

LAYER = "growing sizes"
# Variables that grow by themselves; elements of all buffers of a call; what the original may take
# for one, and where a tool looks on; for all of them, as each row may take a process of its own.
MOST_NAMES, MOST_ELEMENTS, QUICK, WATCHED_QUICK, SECONDS = 3, 1 << 18, 0.1, 0.01, 15.0
# By how much a size shrinks at a time where a call is too large, and the least size to begin with.
SHRINKS, LEAST = 7 / 8, 2
UNFILLED = (
    "sizes that grow were called with memory as the driver gives it: "
    "what fills it could not be built"
)
# What a tool is to say of it: what is read that was never written, and what lies past the end.
TOOLS = ("memcheck", "initcheck")
# A row tells something if there are so many sizes.
LEAST_CALLS = 3

Case = Mapping[str, float]
Known = Callable[[Combination], object | None]
Took = Callable[[Combination], float]
Load = Callable[[JobSpec, Json], Session]


def steps(size: int) -> list[int]:
    """Return sizes that grow by little up to a bit more than twice as much, and then two of these.

    >>> steps(101)
    [101, 102, 126, 151, 176, 201, 202, 203, 101, 151]
    >>> steps(3)
    [3, 4, 5, 6, 7, 3, 4]
    """
    half = size + size // 2
    grown = {size, size + 1, size + size // 4, half, size + 3 * size // 4}
    return [*sorted({*grown, 2 * size - 1, 2 * size, 2 * size + 1}), size, half]


def cases(work: Work) -> list[list[dict[str, float]]]:
    """Return rows of cases: one size grows in each, the others as in the smallest case; then all.

    They begin as large as declared where twice that is not too much, and at an odd number: what is
    rounded up has room for one more then.
    """
    least = min((case.values for case in work.cases), key=lambda case: sizes.elements(work, case))
    names = sizes.sizing(work)[:MOST_NAMES]
    groups = [*((name,) for name in names), tuple(names)] if len(names) > 1 else [tuple(names)]
    return [row for group in groups if group and (row := _row(work, least, group))]


def _row(work: Work, least: Case, names: Sequence[str]) -> list[dict[str, float]]:
    """Return the cases in which some sizes grow by the same factors; none where all are large."""
    first = {name: int(sizes.largest(work, name)) for name in names}
    while not _fits(work, {**least, **{name: 2.0 * one + 3 for name, one in first.items()}}):
        name = max(names, key=lambda name: first[name])
        # All that are about as large: one by one the others would be left as they are declared.
        top = first[name]
        first = {k: int(v * SHRINKS) if 2 * v >= top else v for k, v in first.items()}
        if first[name] < LEAST:
            return []
    grown = {name: steps(one | 1) for name, one in first.items()}
    longest = max(map(len, grown.values()))
    every = {name: _as_long(some, longest) for name, some in grown.items()}
    return [
        {**least, **{name: float(some[at]) for name, some in every.items()}}
        for at in range(longest)
    ]


def _fits(work: Work, case: Case) -> bool:
    return 0 < sizes.elements(work, case) <= MOST_ELEMENTS


def _as_long(some: Sequence[int], count: int) -> list[int]:
    """Return small steps with the largest as often again as there are more of another size."""
    return [*some[:-2], *[some[-3]] * (count - len(some)), *some[-2:]]


def rows(job: JobSpec) -> list[list[Combination]]:
    """Return rows of calls, one behind the other; of each size other contents than of the next."""
    return [list(_contents(row, job.seed)) for row in cases(job.work)]


def _contents(row: Sequence[Case], seed: int) -> Iterator[Combination]:
    known: list[Case] = []
    for case in row:
        if case not in known:
            known.append(case)
        yield Combination(case, DECLARED, seed + known.index(case))


def asked(job: JobSpec) -> list[Combination]:
    """Return what an original has to answer for it: of host code that keeps room, if any."""
    if job.effort != "confirm" or job.work.kind != "entry" or job.kernel == job.baseline:
        return []
    if not each_extent.keeps_room(job.kernel.source):
        return []
    return [*{one.key: one for row in rows(job) for one in row}.values()]


def _known(job: JobSpec, known: Known, took: Took, quick: float) -> list[list[Combination]]:
    """Return the rows that are asked, without what has no answer or takes long."""
    fit = {one.key for one in asked(job) if known(one) is not None and took(one) <= quick}
    every = [[one for one in row if one.key in fit] for row in rows(job)] if fit else []
    return [row for row in every if len({one.key for one in row}) >= LEAST_CALLS]


def watched(job: JobSpec, known: Known, took: Took) -> list[Combination]:
    """Return the last row, in which all sizes grow, for tools: in a process where all is new."""
    found = _known(job, known, took, WATCHED_QUICK)
    return list({one.key: one for one in found[-1]}.values()) if found else []


def in_order(work: Work, given: Sequence[Combination]) -> bool:
    """Tell whether combinations are such a row, ahead of which nothing larger is to be called."""
    if len(given) < LEAST_CALLS:
        return False
    mine = [dict(one.case) for one in given]
    for row in cases(work):
        at = iter(row)
        if all(any(one == case for case in at) for one in mine):
            return True
    return False


def check(load: Load, request: Json, job: JobSpec, answers: Answers, report: Report) -> list[str]:
    """Raise `Wrong` for what is not right as sizes grow; return what is to be noted.

    `load` loads a pair, of which the candidate's memory is filled. One that fails as its original
    does is not refused.
    """
    notes: list[str] = []
    deadline = time.monotonic() + SECONDS
    for row in _known(job, answers.of, answers.seconds, QUICK):
        if time.monotonic() > deadline:
            return [*notes, "not all sizes were called as they grow: there was no time left"]
        before = report.snapshot()
        try:
            _called(load(job, request), answers, job, row, report)
        except Wrong as wrong:
            if not _fails(load, request, job, answers, row):
                raise
            report.restore(before)
            notes.append(f"sizes that grow are not checked: the original fails, too ({wrong})")
    return notes


def _called(
    session: Session, answers: Answers, job: JobSpec, row: Sequence[Combination], report: Report
) -> None:
    """Make the first calls of a pair; raise `Wrong`, also for what crashes."""
    limit = max(1.0, sum(min(answers.patience(one), 5.0) for one in row))
    try:
        runs = session.row(row, nan=False, apart=False, seconds=limit, before=0)
    except DeviceError as error:
        status = "timed out" if isinstance(error, HungError) else "crashed"
        raise Wrong(status, f"as sizes grow: {error}") from error
    for combination, run in zip(row, runs, strict=True):
        one_run.judge(report, job, answers, combination, run, LAYER)
        report.runs += 1
    one_run.dispel(report, answers)


def _fails(
    load: Load, request: Json, job: JobSpec, answers: Answers, row: Sequence[Combination]
) -> bool:
    """Tell whether the original fails at the same calls, with its memory filled."""
    same = replace(job, kernel=job.baseline)
    try:
        session = load(same, {**request, "candidate": request["baseline"]})
        _called(session, answers, same, row, Report())
    except (Wrong, DeviceError):
        return True
    return False
