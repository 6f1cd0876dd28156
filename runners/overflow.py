"""Decide which finalists are run with indices above 2^31, and what a run says of a candidate.

`runners.enlarged` tells who has to and finds the cases, `runners.beyond` compares original and
candidate on them. Whether they are worth the memory and the time is decided here, and a note says
what was not run.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from runners import beyond, enlarged
from runners import limit as limits
from runners.answers import Answers
from runners.beyond import Found
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.families import DECLARED
from runners.gpu import DeviceError, Gpu
from runners.session import Session
from runners.spec import CaseSpec, JobSpec, Json, Work

# What it may take: with less left, a right candidate might come to no verdict.
LONGEST_CHECK = 30.0
_Way = Callable[..., Mapping[str, float] | None]
# How much a case has of what is counted, and ways to a case that has enough, the best first.
_Reached = tuple[Callable[[Mapping[str, float]], int], Sequence[_Way]]


def check(
    load: Callable[[], Session],
    job: JobSpec,
    read: Callable[[str], str],
    gpu: Gpu,
    answers: Answers,
    measured: Json,
    report: Report,
    deadline: float,
) -> bool:
    """Run what may index with fewer bits where these do not do; raise `Wrong`.

    `load` loads the pair, and is called only where it is run; `read` gives the PTX of a source;
    `measured` has the times of the declared cases and takes a note. Return whether the original
    took the device down with it.
    """
    sources = (job.kernel.source, job.baseline.source)
    mine, theirs = (read(text) for text in sources)
    asked = (enlarged.narrowed(mine, theirs), enlarged.in_bytes(mine, theirs))
    if not any(asked):
        return False
    if deadline - time.monotonic() < LONGEST_CHECK:
        measured["notes"].append(f"{beyond.LAYER} not checked: there is no time left")
        return False
    try:
        found = compared(load(), job, gpu, answers, measured, report, asked)
    except DeviceError:
        report.add(beyond.LAYER, "runs", passed=False, error=None, bound=None)
        raise
    if found.unknown:
        measured["notes"].append(f"{beyond.LAYER} not checked: {found.unknown}")
    if found.wrong:
        raise Wrong("wrong result", found.wrong)
    return found.lost


def compared(
    session: Session,
    job: JobSpec,
    gpu: Gpu,
    answers: Answers,
    measured: Json,
    report: Report,
    asked: tuple[bool, bool] = (True, False),
) -> Found:
    """Compare both on the cases that have such indices, where there are any.

    One has more elements than fit an index. Where an element is several (`enlarged.parted`) one has
    more of those than fit an unsigned index, too, if the first has not, or cannot be run. And so
    has one more bytes. `asked`: about indices of elements, and about distances in bytes.
    """
    work, limit = job.work, enlarged.LIMIT
    launches = [one.launch or work.launch for one in (job.kernel, job.baseline)]
    known = [one for one in launches if one is not None]
    find = partial(enlarged.case, work, known)
    elements, in_bytes = asked
    fars = (2 * limit, limit)
    ways: list[_Reached] = []
    if elements:
        ways.append((lambda _: 0, [partial(find, limit)]))
        if enlarged.parted(work, enlarged.largest(work).values):
            parts = [partial(find, far, measure=enlarged.places) for far in fars]
            ways.append((partial(enlarged.parted, work), parts))
    if in_bytes:
        spans = [partial(find, far, measure=enlarged.nbytes) for far in fars]
        ways.append((partial(enlarged.longest, work), spans))
    ways = [(of, able) for of, way in ways if (able := [one for one in way if one() is not None])]
    if not ways:
        what = "the launch's arguments lead to none"
        report.add(beyond.LAYER, what, passed=True, error=None, bound=None)
        return Found()
    if not enlarged.tiled(work):
        return Found(unknown="contents cannot be repeated")
    room = beyond.SHARE * gpu.free_bytes()
    base = Combination(enlarged.largest(work).values, DECLARED, job.seed)
    unknown, done = "", list[Mapping[str, float]]()
    for reached, way in ways:
        if any(reached(one) > 2 * limit for one in done):
            continue
        changed, why = _affordable(work, way, room, measured)
        if changed is None:
            unknown = unknown or why
            continue
        found = session.beyond(changed, answers.of(base) or {}, limit)
        if found.unknown:
            unknown = unknown or found.unknown
        else:
            name, fine = CaseSpec(changed).name, not found.wrong
            report.add(beyond.LAYER, name, passed=fine, error=None, bound=None)
            done.append(changed)
        if found.limit:
            measured["notes"].append(limits.said(found.limit))
        if found.lost or found.wrong:
            return found
    return Found(unknown=unknown)


def _affordable(
    work: Work, way: Sequence[_Way], room: float, measured: Json
) -> tuple[Mapping[str, float] | None, str]:
    """Return the first case of some that fits the memory and the time; or None, and why."""
    timed = [case.values for case in work.cases if case.timed]
    why = "the memory does not suffice"
    for find in way:
        changed = find(most_bytes=room)
        if changed is None:
            continue
        took = max(
            statistics.median(one["baseline_us"]) / 1e6 * enlarged.growth(work, changed, case)
            for case, one in zip(timed, measured["cases"], strict=True)
        )
        if 3 * took <= beyond.SECONDS:
            return changed, ""
        why = f"it would take {3 * took:.0f} s"
    return None, why
