"""Is a speedup real? Paired intervals on the ratio of baseline to candidate, and what they allow.

A case's speedup is the median over ABBA blocks of baseline/candidate; a workload's is the weighted
geometric mean over its timed cases. Everything is computed on logarithms.

The interval is the wider of two. One is a paired bootstrap of the weighted mean of medians. The
median of n resampled values is the sample quantile at the median of n uniforms, which is
Beta((n+1)/2, (n+1)/2) (Maritz and Jarrett, JASA 73, 1978), so the resamples are drawn from that law
instead of being sorted one by one. It is too narrow for few blocks, where the other one rules:
Student's t with the asymptotic variance of a median, pi/2 * s^2/n, and Welch-Satterthwaite degrees
of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from optimizer import student

if TYPE_CHECKING:
    from collections.abc import Sequence

    from optimizer.model import Acceptance, CaseTimes, Measurement

    Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

# Worst of 60 A/A trials on an H200 was 0.7 % (measuring costs table); below that a single case is
# not called slower, and an A/A comparison is not called different.
NOISE_FLOOR = 0.007
# Between two runs the ratio itself wanders, which no number of blocks in one run can show: A/A
# ratios of 30 blocks had a standard deviation of 0.2 %. Added to the variance of each case.
RUN_TO_RUN = 0.001
# A 99 % bound rests on the 20 outermost of 4000 draws on each side; cheaper than 1 ms a case.
RESAMPLES = 4000
# Blocks that follow each other are not independent (clocks drift): standard errors from simulated
# first-order noise with correlation 0.3 are low by sqrt((1+0.3)/(1-0.3)) = 1.36.
CORRELATION_INFLATION = 1.36
# Times outside of a femtosecond to 30 years are broken records, not measurements.
SHORTEST_US, LONGEST_US = 1e-9, 1e15
# Fewer blocks than this bear no interval at all.
FEWEST_BLOCKS = 3


class Decision(StrEnum):
    """What a measurement allows to be said."""

    FASTER = "faster"
    SLOWER = "slower"
    SAME = "same"
    AMBIGUOUS = "ambiguous"


@dataclass(frozen=True, slots=True)
class Interval:
    """A speedup (baseline over candidate, 1 = equal) and the bounds it lies between."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        """Show as the reports do: `3.41× (3.38 to 3.44)`."""
        return f"{self.estimate:.2f}× ({self.low:.2f} to {self.high:.2f})"


def log_ratios(case: CaseTimes) -> Array:
    """Return ln(baseline/candidate) of each block, shape (blocks,); blocks without time dropped."""
    times = np.asarray((case.baseline_us, case.candidate_us), dtype=np.float64)
    if times.ndim != 2 or times.shape[1] == 0:
        return np.empty(0)
    usable = np.all((times > SHORTEST_US) & (times < LONGEST_US), axis=0)
    logs = np.log(times[:, usable])
    return np.asarray(logs[0] - logs[1], dtype=np.float64)


def speedup(measurement: Measurement | None) -> float | None:
    """Return the weighted geometric mean of the cases' median ratios; None where nothing was timed.

    >>> from optimizer.model import CaseTimes, Measurement
    >>> speedup(Measurement((CaseTimes("n=1", (1.0, 1.0), (2.0, 2.0)),), "H200"))
    2.0
    """
    if measurement is None:
        return None
    logs, weights = [], []
    for case in measurement.cases:
        pairs = zip(case.baseline_us, case.candidate_us, strict=False)
        ratios = sorted(b / c for b, c in pairs if _usable(b) and _usable(c))
        if ratios:
            middle = len(ratios) // 2
            pair = (ratios[middle], ratios[middle if len(ratios) % 2 else middle - 1])
            logs.append(0.5 * (math.log(pair[0]) + math.log(pair[1])))
            weights.append(case.weight)
    total = sum(weights)
    if not total:
        return None
    return math.exp(sum(w * x for w, x in zip(weights, logs, strict=True)) / total)


def _usable(time_us: float) -> bool:
    return SHORTEST_US < time_us < LONGEST_US


def interval(
    measurement: Measurement | None, confidence: float = 0.99, seed: int = 0
) -> Interval | None:
    """Return the workload's speedup with its two-sided interval; None where nothing was timed."""
    if measurement is None:
        return None
    timed = [(log_ratios(case), case.weight) for case in measurement.cases]
    timed = [(ratios, weight) for ratios, weight in timed if len(ratios) and weight > 0]
    return _interval([r for r, _ in timed], [w for _, w in timed], confidence, seed)


def case_interval(case: CaseTimes, confidence: float = 0.99, seed: int = 0) -> Interval | None:
    """Return one case's speedup with its two-sided interval; None where nothing was timed."""
    ratios = log_ratios(case)
    return _interval([ratios], [1.0], confidence, seed) if len(ratios) else None


def decide(measurement: Measurement | None, accept: Acceptance, seed: int = 0) -> Decision:
    """Say what the measurement allows at `accept.confidence`.

    FASTER: lower bound above `accept.min_speedup` and no timed case slower beyond noise.
    SLOWER: upper bound below 1 by more than the noise floor. SAME: the whole interval is nearer to
    1 than `min_speedup`. Everything else, few blocks included, is AMBIGUOUS.
    """
    whole = interval(measurement, accept.confidence, seed)
    if whole is None or measurement is None:
        return Decision.AMBIGUOUS
    if whole.high < 1.0 - NOISE_FLOOR:
        return Decision.SLOWER
    if whole.low > accept.min_speedup:
        worse = slower_cases(measurement, accept.confidence, seed)
        return Decision.AMBIGUOUS if worse else Decision.FASTER
    if whole.high < accept.min_speedup and whole.low > 1.0 / accept.min_speedup:
        return Decision.SAME
    return Decision.AMBIGUOUS


def slower_cases(
    measurement: Measurement, confidence: float = 0.99, seed: int = 0
) -> tuple[str, ...]:
    """Name the cases that are slower beyond noise: upper bound below 1 by the noise floor."""
    found = []
    for case in measurement.cases:
        bounds = case_interval(case, confidence, seed) if case.weight > 0 else None
        if bounds is not None and bounds.high < 1.0 - NOISE_FLOOR:
            found.append(case.name)
    return tuple(found)


def no_difference(measurement: Measurement | None, confidence: float = 0.99) -> bool:
    """Tell whether an A/A comparison says what it must: the interval holds 1, or nearly so."""
    whole = interval(measurement, confidence)
    if whole is None:
        return False
    holds = whole.low <= 1.0 <= whole.high
    return holds or abs(math.log(whole.estimate)) < NOISE_FLOOR


def _interval(
    samples: Sequence[Array], weights: Sequence[float], confidence: float, seed: int
) -> Interval | None:
    """Combine cases: log ratios of each, shape (blocks,), and their weights."""
    total = sum(weights)
    if not samples or total <= 0:
        return None
    shares = [weight / total for weight in weights]
    middle = sum(w * float(np.median(s)) for w, s in zip(shares, samples, strict=True))
    if min(len(sample) for sample in samples) < FEWEST_BLOCKS:
        return Interval(math.exp(middle), 0.0, math.inf)
    half = _student_half_width(samples, shares, confidence)
    low, high = _bootstrap_bounds(samples, shares, confidence, seed)
    low, high = min(low, middle - half), max(high, middle + half)
    return Interval(math.exp(middle), math.exp(max(low, -700.0)), math.exp(min(high, 700.0)))


def _student_half_width(
    samples: Sequence[Array], shares: Sequence[float], confidence: float
) -> float:
    """Return t * standard error of the weighted mean of medians, in log units."""
    variance = freedom = 0.0
    for sample, share in zip(samples, shares, strict=True):
        n = len(sample)
        part = share**2 * (
            CORRELATION_INFLATION**2 * math.pi / 2 * _scale(sample) ** 2 / n + RUN_TO_RUN**2
        )
        variance += part
        freedom += part**2 / (n - 1)
    degrees = variance**2 / freedom
    quantile = student.quantile(degrees, 0.5 + confidence / 2)
    return quantile * math.sqrt(variance)


def _scale(sample: Array) -> float:
    """Return the spread of log ratios: the median deviation once there are enough to trust it.

    With ten or fewer the plain standard deviation is used where larger: the median deviation of a
    handful is often close to zero by luck.
    """
    robust = 1.4826 * float(np.median(np.abs(sample - np.median(sample))))
    plain = float(np.std(sample, ddof=1))
    return max(robust, plain) if len(sample) <= 10 else max(robust, min(plain, 2.0 * robust))


def _bootstrap_bounds(
    samples: Sequence[Array], shares: Sequence[float], confidence: float, seed: int
) -> tuple[float, float]:
    """Return the percentile bounds of the bootstrapped weighted mean of medians, in log units."""
    draw = np.random.default_rng(seed)
    means = np.zeros(RESAMPLES)
    for sample, share in zip(samples, shares, strict=True):
        n = len(sample)
        at = draw.beta((n + 1) / 2, (n + 1) / 2, RESAMPLES)
        means += share * np.interp(at, (np.arange(n) + 0.5) / n, np.sort(sample))
    tail = 50.0 * (1.0 - confidence)
    low, high = np.percentile(means, (tail, 100.0 - tail))
    return float(low), float(high)
