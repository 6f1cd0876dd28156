"""A dispatcher that answers from a formula, so that whole runs work without a GPU."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from bot.wiring import Source
from optimizer import counters
from optimizer.model import (
    CaseEnergy,
    Check,
    Effort,
    Energy,
    Environment,
    Resources,
    Status,
    Verdict,
)
from runners.interfaces import Job
from tests.bot import synthetic


class Scripted:
    """Gives every source a speedup that depends on its text alone; some do not compile.

    `fail_after` raises `KeyboardInterrupt` once that many jobs were answered, as Ctrl-C does.
    """

    def __init__(self, fail_after: int | None = None) -> None:
        self.fail_after = fail_after
        self.answered = 0

    def dispatch(self, jobs: Sequence[Job]) -> Sequence[Verdict]:
        if self.fail_after is not None and self.answered >= self.fail_after:
            raise KeyboardInterrupt
        self.answered += len(jobs)
        return [self.verdict(job) for job in jobs]

    def verdict(self, job: Job) -> Verdict:
        draw = int(hashlib.sha256(job.kernel.digest.encode()).hexdigest()[:8], 16) / 2**32
        ratio = speedup(job) / speedup_of_text(job.baseline.source)
        if job.kernel.source != job.baseline.source and draw < 0.1:
            return Verdict(
                Status.DOES_NOT_COMPILE, log='k.cu(3): error: identifier "x" is undefined'
            )
        name = job.workload.symbol or job.workload.name
        counted = {counters.DRAM_READ_BYTES: 1e8 / ratio, counters.TIME_NS: 1e5 / ratio}
        measured = synthetic.measurement(ratio, int(draw * 1e6))
        if job.effort in {Effort.WEIGH, Effort.ENERGY}:
            pairs = 2 if job.effort is Effort.WEIGH else 3
            measured = replace(measured, energy=energy(ratio**0.9 * (1 + draw / 20), pairs))
        return Verdict(
            Status.CORRECT,
            None if job.effort is Effort.PROFILE else measured,
            {f"{name}/{key}": value for key, value in counted.items()}
            if job.effort is Effort.PROFILE
            else {},
            {name: Resources(32, 0, 0, 0, 1.0)},
            machine_code=job.kernel.digest,
            checks=(Check("families", "normal", passed=True, error=1e-7, bound=1e-5),),
            seconds={"compile": 0.3, "time": 0.1},
        )


def energy(saving: float, pairs: int) -> Energy:
    """Return energies around a saving."""
    before = tuple(40.0 * (1 + 0.001 * pair) for pair in range(pairs))
    after = tuple(40.0 / saving * (1 - 0.001 * pair) for pair in range(pairs))
    us = (100.0,) * pairs
    return Energy((CaseEnergy("n=4096", after, before, us, us),))


def speedup_of_text(text: str) -> float:
    """Return how fast a source is: each marker of a good idea counts, `SLOW` counts against."""
    marks = {
        "tile[": 1.5, "__restrict__": 1.2, "__expf": 1.3, "__shfl": 1.8, "float4": 1.25, "SLOW": 0.5,
    }  # fmt: skip
    found = 1.0
    for mark, gain in marks.items():
        found *= gain if mark in text else 1.0
    return found


def speedup(job: Job) -> float:
    return speedup_of_text(job.kernel.source)


def source(fail_after: int | None = None) -> Source:
    """Return the scripted machine as a workshop takes it."""
    environment = Environment(
        gpu=synthetic.GPU,
        driver="0",
        toolkit="0",
        date="2026-01-02",
        optiml="0",
        peaks={"dram_gbs": 4000.0},
    )
    return Source(Scripted(fail_after), environment)
