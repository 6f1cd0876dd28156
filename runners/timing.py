"""How long does it take? Paired samples from randomised ABBA blocks, until they are tight.

This module decides what to run next and when to stop; a `Stage` runs it. Vocabulary and the
minimum-precision stop rule follow nvbench; the ABBA order cancels drifts that are linear in time.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

CANDIDATE, BASELINE = 0, 1
CLOCK_SHARE = 0.97
# Two-sided 95 % points of Student's t for 1, 2, ... degrees of freedom.
_STUDENT = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179)


@dataclass(frozen=True, slots=True)
class Rule:
    """When to stop: blocks at least and at most, seconds, and half-width of the log ratio."""

    least: int
    most: int
    seconds: float
    half_width: float = 0.005
    region_us: float = 200.0


SCREEN = Rule(6, 10, 0.12, region_us=100.0)
FULL = Rule(12, 240, 3.0)


@dataclass(frozen=True, slots=True)
class Arm:
    """One timed region: µs a launch, SM clock in MHz if known, and whether the queue ran dry."""

    us: float
    clock_mhz: float | None = None
    dry: bool = False
    wall_us: float = 0.0
    late_us: float = 0.0


class Stage(Protocol):
    """Runs one region of candidate or baseline launches."""

    def arm(self, which: int, *, second_of_pair: bool) -> Arm:
        """Time `which`. The two arms of a pair see the same fresh contents and are compared."""
        ...


@dataclass(slots=True)
class Samples:
    """Paired µs of a case: entry i of both is from block i."""

    candidate_us: list[float] = field(default_factory=list)
    baseline_us: list[float] = field(default_factory=list)
    clocks: list[float] = field(default_factory=list)
    late_us: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))
    disagreements: int = 0
    dropped: int = 0
    dry: int = 0
    seconds: float = 0.0

    @property
    def ratio(self) -> float:
        """Return the median of baseline over candidate."""
        pairs = zip(self.baseline_us, self.candidate_us, strict=True)
        return statistics.median(b / c for b, c in pairs)

    @property
    def clock_mhz(self) -> float | None:
        """Return the median SM clock."""
        return statistics.median(self.clocks) if self.clocks else None


def half_width(ratios: Sequence[float]) -> float:
    """Return half the width of the 95 % interval of the mean log ratio; inf below two.

    >>> half_width([1.0, 1.0, 1.0])
    0.0
    """
    if len(ratios) < 2:
        return math.inf
    logs = [math.log(r) for r in ratios]
    freedom = len(logs) - 1
    student = _STUDENT[freedom - 1] if freedom <= len(_STUDENT) else 1.96 + 2.5 / freedom
    return student * statistics.stdev(logs) / math.sqrt(len(logs))


def measure(stage: Stage, rule: Rule, rng: np.random.Generator, *, clock: object = None) -> Samples:
    """Run blocks until the ratio is known to the rule's half-width or its limits are reached.

    A block is two pairs, candidate-baseline and baseline-candidate in random order. A block whose
    SM clock is below 97 % of the median so far is dropped and repeated; one whose queue ran dry
    is repeated too. `clock` is a function giving seconds, for tests.
    """
    now = clock if callable(clock) else time.perf_counter
    start = now()
    samples = Samples()
    spoiled = 0
    while len(samples.candidate_us) < rule.most:
        samples.seconds = now() - start
        enough = len(samples.candidate_us) >= rule.least
        if samples.seconds > rule.seconds and len(samples.candidate_us) >= min(3, rule.least):
            break
        if samples.seconds > 4 * rule.seconds and samples.candidate_us:
            break
        pairs = zip(samples.baseline_us, samples.candidate_us, strict=True)
        if enough and half_width([b / c for b, c in pairs]) <= rule.half_width:
            break
        order = [(CANDIDATE, BASELINE), (BASELINE, CANDIDATE)]
        if rng.random() < 0.5:
            order.reverse()
        arms: tuple[list[Arm], list[Arm]] = ([], [])
        for pair in order:
            for position, which in enumerate(pair):
                arm = stage.arm(which, second_of_pair=position == 1)
                arms[which].append(arm)
        if _spoiled(arms, samples) and spoiled < 3 + rule.most // 2:
            spoiled += 1
            continue
        _keep(arms, samples)
    samples.seconds = now() - start
    return samples


def _spoiled(arms: tuple[list[Arm], list[Arm]], samples: Samples) -> bool:
    """Tell whether a block must be repeated, and count why."""
    every = [*arms[0], *arms[1]]
    if any(arm.dry for arm in every):
        samples.dry += 1
        return True
    clocks = [arm.clock_mhz for arm in every if arm.clock_mhz is not None]
    middle = samples.clock_mhz
    samples.clocks += clocks
    if middle is not None and clocks and min(clocks) < CLOCK_SHARE * middle:
        samples.dropped += 1
        return True
    return False


def _keep(arms: tuple[list[Arm], list[Arm]], samples: Samples) -> None:
    samples.candidate_us.append(statistics.fmean(arm.us for arm in arms[CANDIDATE]))
    samples.baseline_us.append(statistics.fmean(arm.us for arm in arms[BASELINE]))
    for which in (CANDIDATE, BASELINE):
        samples.late_us[which].extend(arm.late_us for arm in arms[which])
    for arm in (*arms[0], *arms[1]):
        # The host saw the region and the gate before it: it cannot have been shorter.
        samples.disagreements += int(0 < arm.wall_us < 0.95 * arm.us)


def launches(us: Sequence[float], rule: Rule, slab_bytes: int, room: int) -> int:
    """Return how many launches share a timed region.

    Enough for the faster side to fill the region, few enough for the slower one to stay below
    3 ms, and for an argument set of its own for every launch to fit into `room` bytes.

    >>> launches([2.0, 4.0], Rule(6, 10, 1.0), 1 << 20, 1 << 30)
    64
    >>> launches([250.0, 300.0], Rule(6, 10, 1.0), 1 << 20, 1 << 30)
    1
    """
    fastest, slowest = max(min(us), 0.5), max(*us, 0.5)
    wanted = math.ceil(rule.region_us / fastest)
    return max(1, min(wanted, 64, int(3000 / slowest), room // max(1, slab_bytes)))
