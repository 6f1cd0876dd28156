"""The energy part of a verdict: which cases, read by whom, and why not where it is not measured.

The meter is read in the worker. A candidate's host code, in an entry function, is in a process of
its own that only says how many launches it has made.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from runners import energy
from runners.contents import Combination
from runners.energy import Meter, Reading, Rule
from runners.families import DECLARED
from runners.gpu import LaunchError, OutOfMemoryError
from runners.nvml import Unmeasured
from runners.session import Session
from runners.spec import JobSpec, Json
from runners.stage import Findings, Limit

Terms = Callable[[Combination], tuple[Mapping[str, Limit], float]]
NO_METER = "NVML is not there"


def unavailable(why: str) -> Json:
    """Return what a measurement says of energy that was asked for and not had."""
    return {"cases": [], "unavailable": why[:300] or NO_METER}


def rule_of(job: JobSpec) -> Rule:
    """Return how well a job wants to know; what is claimed is read on every timed case."""
    if job.energy == "weigh":
        return energy.WEIGH
    cases = sum(case.timed for case in job.work.cases)
    seconds = max(energy.LEAST_SECONDS, energy.FULL.seconds / max(1, cases))
    return replace(energy.FULL, seconds=seconds)


def weigh(
    session: Session,
    meter: Meter | None,
    job: JobSpec,
    measured: Sequence[Json],
    terms: Terms,
    check: Callable[[Combination, Findings], None],
) -> Json:
    """Return the energy of the timed cases; to order candidates, of the heaviest alone.

    `measured` holds their times. `terms` gives a case's limits and the seconds after which a run
    hangs; `check` raises when the launches of an arm were wrong.
    """
    if meter is None:
        return unavailable(NO_METER)
    rule = rule_of(job)
    timed = [
        (Combination(case.values, DECLARED, job.seed), times)
        for case, times in zip((c for c in job.work.cases if c.timed), measured, strict=True)
    ]
    if not rule.rests and timed:
        timed = [max(timed, key=lambda pair: _heaviness(pair[1]))]
    cases: list[Json] = []
    readings: list[Reading] = []
    try:
        meter.energy_mj()
        for combination, times in timed:
            burning = session.burning(combination, *terms(combination))
            try:
                reading = energy.measure(burning, meter, rule)
                rule = replace(rule, idles=False)  # once is enough
            except (Unmeasured, LaunchError, OutOfMemoryError):
                burning.quench()  # after any other error the device is lost
                raise
            check(combination, burning.quench())
            _believable(reading, times)
            readings.append(reading)
            cases.append(case_json(times, reading))
    except Unmeasured as why:
        return unavailable(str(why))
    return summary(cases, readings, rule)


def case_json(times: Json, reading: Reading) -> Json:
    """Return one case's energy."""
    return {
        "name": times["name"],
        "candidate_mj": reading.candidate_mj,
        "baseline_mj": reading.baseline_mj,
        "candidate_us": reading.candidate_us,
        "baseline_us": reading.baseline_us,
        "weight": times["weight"],
    }


def summary(cases: Sequence[Json], readings: Sequence[Reading], rule: Rule) -> Json:
    """Return the energy of all cases with how it was read."""
    idle = [one.idle_w for one in readings if one.idle_w is not None]
    steps = [one.step_ms for one in readings if one.step_ms is not None]
    heat = [celsius for one in readings for celsius in one.celsius]
    return {
        "cases": list(cases),
        "unavailable": "",
        "idle_w": statistics.fmean(idle) if idle else None,
        "step_ms": statistics.median(steps) if steps else None,
        "arm_seconds": rule.seconds,
        "celsius": [min(heat), max(heat)] if heat else [],
    }


def _heaviness(times: Json) -> float:
    heavy: float = times["weight"] * statistics.median(times["baseline_us"])
    return heavy


def _believable(reading: Reading, times: Json) -> None:
    """Raise `Unmeasured` for figures that are none, or are not those of what was timed."""
    energy.checked(reading, times["name"])
    if not energy.alike(reading, times["candidate_us"], times["baseline_us"]):
        raise Unmeasured(
            f"{times['name']}: launches back to back do not compare as those that were timed do"
        )
