"""Times a candidate that is right beside its original: the cases that count, their energy.

What was timed is judged right away, and a time in which the results could not have been written is
refused: whoever finds times here finds those of right launches.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from runners import (
    cancelling,
    launch_limits,
    no_loss,
    one_element,
    recipes,
    scalar_ends,
    timed_launches,
    timing,
    weighing,
    wider,
)
from runners.answers import Answers
from runners.bench import LATE_US
from runners.capacities import LONGER, SHORTER
from runners.checks import Report, Wrong
from runners.contents import Combination
from runners.energy import Meter
from runners.families import (
    CROWDED_INFINITIES,
    DECLARED,
    FOLLOWING,
    IMPULSES,
    LOG_BELOW,
    MASKS,
    NAN_BELOW,
    OPPOSITE_ROWS,
    REACHES,
    VAST,
)
from runners.fault import Fault
from runners.gpu import Gpu
from runners.launchable import plain_name
from runners.session import Session, Timed
from runners.spec import MOVED, CaseSpec, JobSpec, Json
from runners.stage import Findings, Limit

# L2 moves about this many times what DRAM does on every architecture since Volta.
L2_TO_DRAM = 6.0
AGAIN_SECONDS = 60.0
# Of inputs that the original does not answer, so many are named; of the others it is said how many.
MOST_DROPPED = 8


class Measurements:
    """Measures candidates on one GPU, which none of ours uses meanwhile."""

    def __init__(self, gpu: Gpu, meter: Meter | None) -> None:
        self._gpu, self._meter = gpu, meter

    def measure(
        self,
        session: Session,
        job: JobSpec,
        known: tuple[Answers, Sequence[Combination]],
        report: Report,
        seconds: float,
    ) -> Json:
        """Time every timed case and return the measurement; raise `Wrong` for a wrong launch."""
        with _owned(str(self._gpu.facts.get("bus_id", "gpu"))):
            return self._time(session, job, known, report, seconds)

    def again(
        self,
        session: Session,
        job: JobSpec,
        known: tuple[Answers, Report],
        case: CaseSpec,
    ) -> dict[str, list[float]]:
        """Return µs of candidate and original on a case; raise `Wrong` for a wrong launch."""
        answers, report = known
        combination = Combination(case.values, DECLARED, job.seed)
        limits = timed_launches.limits(report, answers, combination)
        rule = (timing.FULL, AGAIN_SECONDS)
        with _owned(str(self._gpu.facts.get("bus_id", "gpu"))):
            timed = self._one(session, combination, limits, rule, report, answers)
        samples = timed.samples
        return {"candidate_us": samples.candidate_us, "baseline_us": samples.baseline_us}

    def _time(
        self,
        session: Session,
        job: JobSpec,
        known: tuple[Answers, Sequence[Combination]],
        report: Report,
        seconds: float,
    ) -> Json:
        answers, wanted = known
        rule = timing.SCREEN if job.effort == "screen" else timing.FULL
        timed_cases = [case for case in job.work.cases if case.timed]
        cases: list[Json] = []
        dropped = [
            (k, why)
            for k, why in answers.dropped.items()
            if not _silent(k) and why != LONGER and not _follows(k, why)
        ]
        notes = [f"not checked at {_where(k)}: {why}" for k, why in dropped[:MOST_DROPPED]]
        if len(dropped) > MOST_DROPPED:
            many, why = len(dropped) - MOST_DROPPED, dropped[-1][1]
            notes.append(f"nor at {many} others, the last of them: {why}")
        if job.checks == "confirm":
            shared = int(self._gpu.facts.get("shared_optin_bytes") or 0)
            notes = launch_limits.limits(job, shared) + notes if shared else notes
        every: list[Timed] = []
        for case in timed_cases:
            combination = Combination(case.values, DECLARED, job.seed)
            limits = timed_launches.limits(report, answers, combination)
            timed = self._one(session, combination, limits, (rule, seconds), report, answers)
            every.append(timed)
            if job.checks == "confirm" and job.work.kind == "entry" and job.kernel != job.baseline:
                timed_launches.judge_behind(session, job, (answers, wanted), combination, report)
            samples = timed.samples
            notes += _oddities(case, timed)
            _plausible(report, answers, combination, samples.candidate_us, self._gpu.facts)
            cases.append(
                {
                    "name": case.name,
                    "candidate_us": samples.candidate_us,
                    "baseline_us": samples.baseline_us,
                    "weight": case.weight,
                }
            )
        clocks = [t.samples.clock_mhz for t in every if t.samples.clock_mhz]
        heat = [t.temperature_c for t in every if t.temperature_c is not None]
        consumed = self._energy(session, job, answers, report, cases) if job.energy else None
        return {
            "cases": cases,
            "device": str(self._gpu.facts["gpu"]),
            "kernels": {plain_name(job.work.symbol): 1.0} if job.work.kind == "kernel" else {},
            "clock_mhz": sum(clocks) / len(clocks) if clocks else None,
            "energy": consumed,
            "peak_memory_bytes": _most(t.memory_bytes for t in every),
            "baseline_memory_bytes": _most(t.baseline_memory_bytes for t in every),
            "temperature_c": max(heat, default=None),
            "dropped": sum(t.samples.dropped for t in every),
            "notes": notes,
        }

    def _energy(
        self, session: Session, job: JobSpec, answers: Answers, report: Report, cases: list[Json]
    ) -> Json:
        """Read the energy counter while both run; raise `Wrong` for a wrong launch."""

        def terms(combination: Combination) -> tuple[Mapping[str, Limit], float]:
            return timed_launches.limits(report, answers, combination), answers.patience(
                combination
            )

        def check(combination: Combination, found: Findings) -> None:
            timed_launches.judge_timed(report, answers, combination, found)

        return weighing.weigh(session, self._meter, job, cases, terms, check)

    def _one(
        self,
        session: Session,
        combination: Combination,
        limits: Mapping[str, Limit],
        terms: tuple[timing.Rule, float],
        report: Report,
        answers: Answers,
    ) -> Timed:
        """Time one case, and judge its launches right away."""
        patience = min(terms[1], answers.patience(combination))
        timed = session.time(combination, limits, terms[0], patience)
        timed_launches.judge_timed(report, answers, combination, timed.findings)
        late = [sorted(times)[len(times) // 2] for times in timed.samples.late_us if times]
        if len(late) == 2 and late[0] > LATE_US and late[0] > 4 * late[1]:
            report.add(
                "timed launches", "nothing left behind", passed=False, error=None, bound=None
            )
            raise Wrong(
                "wrong result",
                f"the device works on for {late[0]:.0f} µs after the timed stream is done",
            )
        return timed


def _most(sizes: Iterable[int | None]) -> int | None:
    """Return the largest; None when one of them is not known."""
    known = list(sizes)
    return max((size or 0 for size in known), default=None) if None not in known else None


def _silent(key: str) -> bool:
    """Tell whether nobody is told that an original has no answer to a combination.

    Vast inputs and numbers that cancel are meant for few kernels, what is far from all else may be
    infinite there, numbers beyond a declared range are promised by nobody, few take the logarithm
    of a number below zero or look at the sign of a NaN, and of single elements and of recipes there
    are many; the rest is what rounding is told by.

    >>> keys = ["n=7|mixed|5", "n=7|declared+j|5", "n=7|only x[3] low|5", "n=7|wider x to 118|5"]
    >>> [_silent(key) for key in [*keys, "n=7|recipe 0|5", "n=7|cancelling along array 0|5"]]
    [False, True, True, True, True, True]
    """
    family = key.split("|")[1]
    kinds = {VAST, NAN_BELOW, FOLLOWING, *MASKS, *LOG_BELOW, *REACHES, *IMPULSES}
    kinds |= {CROWDED_INFINITIES}
    changed = one_element.change(family) or wider.wider(family)
    few = recipes.number(family) is not None or cancelling.cancels(family)
    few |= family in no_loss.FAMILIES or family.partition(" ")[0] == OPPOSITE_ROWS
    return "+" in key or family in kinds or changed is not None or few


def _follows(key: str, why: str) -> bool:
    """Tell whether a scalar far out was too much for the original alone, which is said once."""
    return why == SHORTER and bool(scalar_ends.scalar(key.split("|")[1]))


def _where(key: str) -> str:
    """Name a combination from its key.

    >>> _where("*=3 n=7|declared|5"), _where("|mixed|5")
    ('other scalars n=7 (declared inputs)', 'the only case (mixed inputs)')
    """
    case, family, _ = key.split("|")
    words = ["other scalars" if w.startswith(f"{MOVED}=") else w for w in case.split()]
    return f"{' '.join(words) or 'the only case'} ({family} inputs)"


def _oddities(case: CaseSpec, timed: Timed) -> list[str]:
    """Return what a reader of the times should know."""
    samples = timed.samples
    notes = []
    if samples.dropped:
        notes.append(f"{case.name}: {samples.dropped} blocks repeated, the SM clock had dropped")
    if samples.disagreements:
        notes.append(f"{case.name}: the host clock and the device's disagree")
    return notes


def compulsory_us(size: int, facts: Mapping[str, Any]) -> float:
    """Return the least time in which that many bytes can be written, in µs; 0 if unknown.

    What fits into L2 may still be there when the kernel ends; the rest has gone to DRAM at no
    more than its theoretical rate (both clock edges, bus width).
    """
    rate = 2 * float(facts.get("memory_clock_mhz") or 0) * float(facts.get("memory_bus_bits") or 0)
    if not rate:
        return 0.0
    peak = rate / 8  # bytes per µs
    cached = min(size, int(facts["l2_bytes"]))
    return (size - cached) / peak + cached / (L2_TO_DRAM * peak)


def _plausible(
    report: Report,
    answers: Answers,
    combination: Combination,
    times: list[float],
    facts: Mapping[str, Any],
) -> None:
    """Refuse a time in which the results could not even have been written.

    Only outputs count that the original writes: a kernel may not need all of its inputs, nor
    change all of what it updates.
    """
    case = CaseSpec(combination.case).name
    size = 0
    for argument in answers.work.arguments:
        answer = (answers.of(combination) or {}).get(argument.name)
        if answer is None or argument.role != "output":
            continue
        left = 0 if answer.untouched is None else int(answer.untouched.sum())
        size += len(answer.want) - left * argument.type.size
    floor, fastest = compulsory_us(size, facts), min(times)
    fine = fastest >= 0.9 * floor
    report.add("plausibility", case, passed=fine, error=floor, bound=fastest)
    if not fine:
        raise Wrong(
            "rejected",
            f"{case}: {fastest:.3g} µs is less than writing its {size} bytes takes"
            f" ({floor:.3g} µs)",
        )


@contextlib.contextmanager
def _owned(name: str, seconds: float = 120.0) -> Iterator[None]:
    """Hold the GPU's lock while timing, so that two of ours never time beside each other."""
    path = Path(tempfile.gettempdir()) / f"optiml-{name.replace(':', '-')}.lock"
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW
    try:
        descriptor = os.open(path, flags, 0o666)
    except OSError:
        yield  # somebody else's file: no lock is better than no timing
        return
    try:
        deadline = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise Fault(
                        "RunnerError",
                        "another process keeps timing on this GPU",
                        "wait for it, or choose another --device",
                    ) from error
                time.sleep(0.01)
        yield
    finally:
        os.close(descriptor)
