"""Decide which finalists are run with indices above 2^31, and what a run says of a candidate.

`runners.enlarged` tells who has to and finds the case, `runners.beyond` compares original and
candidate on it. Whether it is worth the memory and the time is decided here, and a note says what
was not run.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from runners import beyond, enlarged
from runners.answers import Answers
from runners.beyond import Found
from runners.contents import Combination
from runners.families import DECLARED
from runners.gpu import DeviceError, Gpu
from runners.session import LocalSession, Session
from runners.spec import CaseSpec, JobSpec, Json
from runners.verify import Report, Wrong


def check(
    session: Session,
    job: JobSpec,
    read: Callable[[str], str],
    gpu: Gpu,
    answers: Answers,
    measured: Json,
    report: Report,
) -> bool:
    """Run a kernel that may index with fewer bits where these do not do; raise `Wrong`.

    `read` gives the PTX of a source, `measured` has the times of the declared cases and takes a
    note. Return whether the original took the device down with it.
    """
    sources = (job.kernel.source, job.baseline.source)
    if not isinstance(session, LocalSession) or job.work.kind != "kernel":
        return False
    if not enlarged.narrowed(*(read(text) for text in sources)):
        return False
    try:
        found = compared(session, job, gpu, answers, measured, report)
    except DeviceError:
        report.add(beyond.LAYER, "runs", passed=False, error=None, bound=None)
        raise
    if found.unknown:
        measured["notes"].append(f"{beyond.LAYER} not checked: {found.unknown}")
    if found.wrong:
        raise Wrong("wrong result", found.wrong)
    return found.lost


def compared(
    session: LocalSession,
    job: JobSpec,
    gpu: Gpu,
    answers: Answers,
    measured: Json,
    report: Report,
) -> Found:
    """Compare both on a case that has such indices, where there is one."""
    work, limit = job.work, enlarged.LIMIT
    launches = [one.launch or work.launch for one in (job.kernel, job.baseline)]
    known = [one for one in launches if one is not None]
    if enlarged.case(work, known, limit) is None:
        what = "the launch's arguments lead to none"
        report.add(beyond.LAYER, what, passed=True, error=None, bound=None)
        return Found()
    if not enlarged.tiled(work):
        return Found(unknown="contents cannot be repeated")
    changed = enlarged.case(work, known, limit, beyond.SHARE * gpu.free_bytes())
    if changed is None:
        return Found(unknown="the memory does not suffice")
    timed = [case.values for case in work.cases if case.timed]
    took = max(
        statistics.median(one["baseline_us"]) / 1e6 * enlarged.growth(work, changed, case)
        for case, one in zip(timed, measured["cases"], strict=True)
    )
    if 3 * took > beyond.SECONDS:
        return Found(unknown=f"it would take {3 * took:.0f} s")
    base = Combination(enlarged.largest(work).values, DECLARED, job.seed)
    found = session.beyond(changed, answers.of(base) or {}, limit)
    if not found.unknown:
        name, fine = CaseSpec(changed).name, not found.wrong
        report.add(beyond.LAYER, name, passed=fine, error=None, bound=None)
    return found
