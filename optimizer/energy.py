"""Is an energy saving real? Intervals on the ratio of baseline to candidate energy.

A case's saving is the mean over pairs of ln(baseline/candidate); a workload's is the weighted mean
over its cases. A pair's arms are means over seconds, so their log ratios are close to normal and
Student's t with Welch-Satterthwaite degrees of freedom holds for few of them.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass
from typing import TYPE_CHECKING

from optimizer import student
from optimizer.significance import Interval

if TYPE_CHECKING:
    from optimizer.model import CaseEnergy, Energy, Measurement

# Fewer pairs than this bear no interval.
FEWEST_PAIRS = 3
# What no number of pairs in one run shows: the sensor's state and the board's temperature are the
# same for all of them. Added to the variance of each case's mean.
RUN_TO_RUN = 0.002
# A log ratio known no better than this says nothing.
MOST_LOG = 100.0


@dataclass(frozen=True, slots=True)
class _Logs:
    mean: float
    variance: float
    freedom: float


def energy_of(measurement: Measurement | None) -> Energy | None:
    """Return what is known of a measurement's energy; None where it was not asked for or not had.

    >>> energy_of(None) is None
    True
    """
    found = measurement.energy if measurement else None
    return found if found is not None and found.cases else None


def saving(energy: Energy | None) -> float | None:
    """Return baseline over candidate energy, 2 for half of it; None where it was not measured.

    >>> from optimizer.model import CaseEnergy, Energy
    >>> round(saving(Energy((CaseEnergy("n=1", (2.0, 2.0), (3.0, 3.0)),))), 6)
    1.5
    """
    found = _summed(energy)
    return None if found is None else math.exp(found.mean)


def saving_interval(energy: Energy | None, confidence: float = 0.99) -> Interval | None:
    """Return the saving with its two-sided interval; an endless one of fewer than three pairs."""
    found = _summed(energy)
    if found is None:
        return None
    half = _half_width(found, confidence)
    middle = math.exp(found.mean)
    if half > MOST_LOG:
        return Interval(middle, 0.0, math.inf)
    return Interval(middle, middle * math.exp(-half), middle * math.exp(half))


def uses_less(one: Energy | None, other: Energy | None, confidence: float = 0.99) -> bool:
    """Tell whether a candidate takes less energy than another for certain.

    Both were measured beside the same baseline; the difference of their log savings has the sum of
    their variances.
    """
    mine, theirs = _summed(one), _summed(other)
    if mine is None or theirs is None:
        return False
    variance = mine.variance + theirs.variance
    parts = [(part.variance, part.freedom) for part in (mine, theirs)]
    if not all(math.isfinite(v) and f > 0 for v, f in parts):
        return False
    freedom = variance**2 / sum(v**2 / f for v, f in parts)
    half = _half_width(_Logs(0.0, variance, freedom), confidence)
    return mine.mean - theirs.mean > half


def millijoules(case: CaseEnergy) -> tuple[float, float]:
    """Return the median energy of a launch before and after, in mJ."""
    return statistics.median(case.baseline_mj), statistics.median(case.candidate_mj)


def _summed(energy: Energy | None) -> _Logs | None:
    """Return the weighted mean of log savings, its variance and degrees of freedom."""
    cases = [] if energy is None else [(case, _logs(case)) for case in energy.cases]
    if not cases or any(not logs for _, logs in cases):
        return None
    total = sum(case.weight for case, _ in cases)
    if total <= 0:
        return None
    mean = variance = shared = 0.0
    for case, logs in cases:
        share = case.weight / total
        mean += share * statistics.fmean(logs)
        if len(logs) < FEWEST_PAIRS:
            variance = math.inf
            continue
        own = statistics.variance(logs) / len(logs) + RUN_TO_RUN**2
        variance += share**2 * own
        shared += (share**2 * own) ** 2 / (len(logs) - 1)
    freedom = variance**2 / shared if shared and math.isfinite(variance) else 0.0
    return _Logs(mean, variance, freedom)


def _logs(case: CaseEnergy) -> list[float]:
    pairs = zip(case.baseline_mj, case.candidate_mj, strict=False)
    usable = [(b, c) for b, c in pairs if 0 < b < math.inf and 0 < c < math.inf]
    return [math.log(b) - math.log(c) for b, c in usable]


def _half_width(found: _Logs, confidence: float) -> float:
    if not math.isfinite(found.variance) or found.freedom <= 0:
        return math.inf
    quantile = student.quantile(found.freedom, 0.5 + confidence / 2)
    return quantile * math.sqrt(found.variance)
