"""What a winner takes besides time: energy and device memory, in figures and words."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bot import wording
from optimizer.energy import energy_of, millijoules, saving_interval
from optimizer.finals import memory
from optimizer.model import Energy, Measurement, Trajectory
from optimizer.significance import Interval


@dataclass(frozen=True, slots=True)
class CaseConsumed:
    """Median energy of a case's launch in mJ, before and after, and its saving."""

    name: str
    before_mj: float
    after_mj: float
    saving: Interval
    weight: float


@dataclass(frozen=True, slots=True)
class Consumed:
    """A winner's energy; `saving` is before over after, None where it was not measured."""

    energy: Energy
    saving: Interval | None
    cases: tuple[CaseConsumed, ...]

    @property
    def words(self) -> str:
        """Say what became of the energy: `12.0 % less energy (99 % CI 11.4–12.6 %)`."""
        if self.saving is None:
            return f"energy was not measured: {self.energy.unavailable or 'no figures came'}"
        return f"{less(self.saving.estimate)} energy ({span(self.saving)})"


def consumed(measurement: Measurement | None, confidence: float) -> Consumed | None:
    """Return what is known of a measurement's energy; None where it was not asked for."""
    found = measurement.energy if measurement else None
    if found is None:
        return None
    known = energy_of(measurement)
    cases = []
    for case in known.cases if known else ():
        own = saving_interval(Energy((case,)), confidence)
        if own is not None:
            cases.append(CaseConsumed(case.name, *millijoules(case), own, case.weight))
    return Consumed(found, saving_interval(known, confidence), tuple(cases))


def memory_of(trajectory: Trajectory) -> tuple[int | None, int | None]:
    """Return the device memory that the original and the winner take at most, in bytes."""
    verdict = trajectory.confirmation or trajectory.best.verdict
    return memory(verdict.measurement, trajectory.baseline.verdict.measurement)


def memory_words(before: int | None, after: int | None) -> str:
    """Say what became of the device memory; empty where nothing is known.

    >>> memory_words(100_000_000, 100_000_000)
    'device memory 100 MB, unchanged'
    >>> memory_words(100_000_000, 125_000_000)
    'device memory 100 MB → 125 MB (+25.0 %)'
    >>> memory_words(None, 8)
    ''
    """
    if before is None or after is None:
        return ""
    first, last = wording.amount(before, "bytes"), wording.amount(after, "bytes")
    if before == after:
        return f"device memory {first}, unchanged"
    if first == last:
        return f"device memory {first} ({after - before:+,} B)"
    return f"device memory {first} → {last} ({100 * (after / before - 1):+.1f} %)"


def less(saving: float) -> str:
    """Say a saving as people do.

    >>> less(2.0), less(0.8)
    ('50.0 % less', '25.0 % more')
    """
    share = 100 * (1 / saving - 1)
    return f"{abs(share):.1f} % {'less' if share <= 0 else 'more'}"


def span(saving: Interval) -> str:
    """Say between which changes a saving lies; words where too few pairs bear an interval.

    >>> span(Interval(2.0, 1.9, 2.1))
    '−52.4 to −47.4 %'
    """
    if saving.low <= 0 or not math.isfinite(saving.high):
        return "too few readings for an interval"
    low, high = (100 * (1 / bound - 1) for bound in (saving.high, saving.low))
    return f"{low:+.1f} to {high:+.1f} %".replace("-", "−")


def joules(mj: float) -> str:
    """Say an energy given in mJ in the unit that reads best.

    >>> joules(0.0123), joules(9.99), joules(12345.6)
    ('12.3 µJ', '9.99 mJ', '12.3 J')
    """
    if mj >= 1e3:
        return f"{wording.significant(mj / 1e3)} J"
    return f"{wording.significant(mj)} mJ" if mj >= 0.1 else f"{wording.significant(mj * 1e3)} µJ"
