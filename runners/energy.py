"""How much energy does it take? Candidate and original run in turns while a meter is read beside.

An arm runs one of the two back to back for seconds. The counter moves in steps, so an arm's energy
is read from one step to a later one, and its launches are counted between the same two moments:
what is left of the step is the jitter of looking at it (`POLL_SECONDS`). The first part of an arm
is not read: on an H200 (benchmarks/energy.py watches it) the counter follows a load within its step
of 100 ms, but the clocks take half a second to settle where the power limit binds. Arms alternate
in ABBA order, which cancels what drifts linearly, as temperature nearly does.

The length of an arm, the number of pairs and the pause for cooling follow what is known of on-board
sensors: they look at a part of the time and average (Yang, Adamek and Armour, "Part-time Power
Measurements: nvidia-smi's Lack of Attention", SC 2024).
"""

from __future__ import annotations

import bisect
import itertools
import math
import statistics
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, Self

from runners.nvml import Unmeasured
from runners.timing import BASELINE, CANDIDATE, half_width

EMPTY = 2  # an arm that only refills the buffers, whose energy is taken off
POLL_SECONDS = 0.002
# A window has this many steps of the counter at least.
FEWEST_STEPS = 4
# Net energy below this share of an arm's is the difference of two large figures.
LEAST_SHARE = 0.25
# Repeated launches behave like those that were timed if their ratio is the same but for this.
MOST_APART = 1.4
WARMER_C, COOLING_SECONDS = 3.0, 2.0
REST_SECONDS, IDLE_SECONDS = 1.0, 2.0

Mark = tuple[float, int]  # seconds of the monotonic clock, launches that had ended by then


@dataclass(frozen=True, slots=True)
class Rule:
    """How long an arm is and how many pairs there are.

    `lead` seconds of an arm are not read. Pairs end when the ratio's half-width (95 %) is met.
    `rests` tells that a warm GPU is waited for, `idles` that idle power is taken first.
    """

    lead: float
    seconds: float
    least: int
    most: int
    half_width: float
    rests: bool
    idles: bool = False


WEIGH = Rule(0.3, 1.0, 2, 2, 0.0, rests=False)
FULL = Rule(1.0, 5.0, 3, 6, 0.01, rests=True, idles=True)
# An arm of several cases is shared among them, down to this for each.
LEAST_SECONDS = 2.0


class Meter(Protocol):
    """What reads energy and heat."""

    def energy_mj(self) -> float:
        """Return mJ since some moment; raise `Unmeasured` where it cannot be had."""
        ...

    def temperature(self) -> float | None:
        """Return °C, None when nothing tells."""
        ...


class Burning(Protocol):
    """Candidate and original of one case, ready to run for seconds.

    `in_place` tells that buffers are refilled between launches, as they are changed.
    """

    in_place: bool

    def burn(self, which: int, seconds: float, *, second_of_pair: bool) -> Sequence[Mark]:
        """Run one back to back; return when how many launches had ended, the first mark at 0."""
        ...


@dataclass(slots=True)
class Clock:
    """Time as tests may have it."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


@dataclass(frozen=True, slots=True)
class Arm:
    """One reading: mJ and µs a launch, and the °C it began at."""

    mj: float
    us: float
    celsius: float | None = None


@dataclass(slots=True)
class Reading:
    """Paired arms of a case: entry i of each is from pair i. Idle power in W, the step in ms."""

    candidate_mj: list[float] = field(default_factory=list)
    baseline_mj: list[float] = field(default_factory=list)
    candidate_us: list[float] = field(default_factory=list)
    baseline_us: list[float] = field(default_factory=list)
    idle_w: float | None = None
    step_ms: float | None = None
    celsius: list[float] = field(default_factory=list)

    @property
    def ratios(self) -> list[float]:
        """Return baseline over candidate of each pair."""
        pairs = zip(self.baseline_mj, self.candidate_mj, strict=True)
        return [before / after for before, after in pairs]


class Sampler:
    """Looks at a meter from a thread of its own; `steps` are when the counter moved, and to what.

    A context manager. The thread ends with it; what made it stop early is raised then.
    """

    def __init__(self, meter: Meter, clock: Clock) -> None:
        self.steps: list[tuple[float, float]] = []
        self._meter, self._clock = meter, clock
        self._stop = threading.Event()
        self._trouble: Unmeasured | None = None
        self._thread = threading.Thread(target=self._look, name="energy", daemon=True)

    def __enter__(self) -> Self:
        self.steps.append(self._reading())
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        del self.steps[:1]  # where the counter stood, not when it came there

    def check(self) -> None:
        """Raise what made the counter unreadable."""
        if self._trouble is not None:
            raise self._trouble

    def _look(self) -> None:
        last = self.steps[-1][0]
        while not self._stop.is_set():
            try:
                moment, value = self._reading()
            except Unmeasured as trouble:
                self._trouble = trouble
                return
            if value != self.steps[-1][1]:
                self.steps.append(((last + moment) / 2, value))  # it moved since the last look
            last = moment
            self._stop.wait(POLL_SECONDS)

    def _reading(self) -> tuple[float, float]:
        """Return the counter and the middle of the time that reading it took: 4 ms on an H200."""
        begun = self._clock.now()
        value = self._meter.energy_mj()
        return (begun + self._clock.now()) / 2, value


def measure(burning: Burning, meter: Meter, rule: Rule, clock: Clock | None = None) -> Reading:
    """Return the energy of candidate and original in pairs; raise `Unmeasured` where it cannot be.

    Whatever `burning` raises goes through.
    """
    clock = clock or Clock()
    meter.energy_mj()
    found = Reading()
    if rule.idles:
        found.idle_w = idle_w(meter, clock)
    cool = meter.temperature()
    steps: list[float] = []

    def arm(which: int, *, second: bool) -> Arm:
        if rule.rests and cool is not None:
            _cool(meter, cool + WARMER_C, clock)
        seen = _arm(burning, meter, rule, clock, which, second, steps)
        if seen.celsius is not None:
            found.celsius.append(seen.celsius)
        return seen

    empty = [arm(EMPTY, second=False)] if burning.in_place else []
    for pair in range(rule.most):
        order = (CANDIDATE, BASELINE) if pair % 4 in {0, 3} else (BASELINE, CANDIDATE)
        arms = {which: arm(which, second=place == 1) for place, which in enumerate(order)}
        found.candidate_mj.append(arms[CANDIDATE].mj)
        found.baseline_mj.append(arms[BASELINE].mj)
        found.candidate_us.append(arms[CANDIDATE].us)
        found.baseline_us.append(arms[BASELINE].us)
        if pair + 1 >= rule.least and half_width(found.ratios) <= rule.half_width:
            break
    if burning.in_place:
        empty.append(arm(EMPTY, second=False))
        _take_off(found, empty)
    found.step_ms = statistics.median(steps) if steps else None
    return found


def idle_w(meter: Meter, clock: Clock) -> float | None:
    """Return the power in W of the GPU with its context open and nothing to do."""
    clock.sleep(REST_SECONDS)
    with Sampler(meter, clock) as sampler:
        clock.sleep(IDLE_SECONDS)
    sampler.check()
    if len(sampler.steps) < FEWEST_STEPS:
        return None
    (begin, before), (end, after) = sampler.steps[0], sampler.steps[-1]
    return (after - before) / 1e3 / (end - begin)


def alike(reading: Reading, candidate_us: Sequence[float], baseline_us: Sequence[float]) -> bool:
    """Tell whether launches back to back behave like those that were timed one set at a time."""
    timed = statistics.median(b / c for b, c in zip(baseline_us, candidate_us, strict=True))
    pairs = zip(reading.baseline_us, reading.candidate_us, strict=True)
    repeated = statistics.median(b / c for b, c in pairs)
    return 1 / MOST_APART < repeated / timed < MOST_APART


def _arm(
    burning: Burning,
    meter: Meter,
    rule: Rule,
    clock: Clock,
    which: int,
    second: bool,
    steps: list[float],
) -> Arm:
    celsius = meter.temperature()
    with Sampler(meter, clock) as sampler:
        marks = burning.burn(which, rule.lead + rule.seconds, second_of_pair=second)
    sampler.check()
    begin, end = marks[0][0] + rule.lead, marks[-1][0]
    inside = [step for step in sampler.steps if begin <= step[0] <= end]
    if len(inside) < FEWEST_STEPS:
        raise Unmeasured(f"the energy counter moved {len(inside)} times in {end - begin:.1f} s")
    (first, before), (last, after) = inside[0], inside[-1]
    steps += [1e3 * (b[0] - a[0]) for a, b in itertools.pairwise(inside)]
    launches = launched(marks, last) - launched(marks, first)
    if launches <= 0 or after <= before:
        raise Unmeasured("nothing ran while the energy counter was read")
    return Arm((after - before) / launches, 1e6 * (last - first) / launches, celsius)


def launched(marks: Sequence[Mark], moment: float) -> float:
    """Return how many launches had ended at a moment, between marks in proportion.

    >>> launched([(0.0, 0), (1.0, 10), (2.0, 30)], 1.5)
    20.0
    """
    place = bisect.bisect_right(marks, moment, key=lambda mark: mark[0])
    if place == 0:
        return float(marks[0][1])
    if place == len(marks):
        return float(marks[-1][1])
    (begin, few), (end, many) = marks[place - 1], marks[place]
    share = (moment - begin) / (end - begin) if end > begin else 1.0
    return few + share * (many - few)


def _cool(meter: Meter, celsius: float, clock: Clock) -> None:
    """Wait until the GPU is no warmer than that, or for as long as is waited."""
    end = clock.now() + COOLING_SECONDS
    while clock.now() < end:
        now = meter.temperature()
        if now is None or now <= celsius:
            return
        clock.sleep(0.25)


def _take_off(found: Reading, empty: Sequence[Arm]) -> None:
    """Take the refilling of buffers off every arm."""
    mj, us = (statistics.fmean(getattr(one, name) for one in empty) for name in ("mj", "us"))
    for energies, times in (
        (found.candidate_mj, found.candidate_us),
        (found.baseline_mj, found.baseline_us),
    ):
        for place, (energy, taken) in enumerate(zip(energies, times, strict=True)):
            if energy - mj < LEAST_SHARE * energy:
                raise Unmeasured("refilling its buffers takes most of the energy")
            energies[place], times[place] = energy - mj, max(1e-3, taken - us)


def checked(reading: Reading, name: str) -> Reading:
    """Return a reading whose figures are all above zero; raise `Unmeasured` for another."""
    figures = (
        *reading.candidate_mj, *reading.baseline_mj, *reading.candidate_us, *reading.baseline_us,
    )  # fmt: skip
    if not all(math.isfinite(one) and one > 0 for one in figures):
        raise Unmeasured(f"{name}: the energy counter gave no usable figures")
    return reading
