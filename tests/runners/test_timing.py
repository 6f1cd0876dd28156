"""When timing stops, what it repeats, and that a kernel never beats itself."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import pytest

from optimizer.model import Acceptance, CaseTimes, Measurement
from optimizer.significance import Decision, decide
from runners.timing import (
    BASELINE,
    CANDIDATE,
    FULL,
    SCREEN,
    Arm,
    Rule,
    Samples,
    half_width,
    launches,
    measure,
)


@dataclass
class FakeStage:
    """Gives times around a mean, with a clock of its own that advances with every region."""

    means: tuple[float, float] = (10.0, 10.0)
    spread: float = 0.002
    seed: int = 0
    cost: float = 0.002
    slow_clock_every: int = 0
    dry: int = 0
    drift: float = 0.0
    now: float = 0.0
    arms: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def arm(self, which: int, *, second_of_pair: bool) -> Arm:
        self.now += self.cost
        self.arms.append(which)
        us = self.means[which] * (1 + self.rng.normal(0, self.spread)) * (1 + self.drift * self.now)
        clock = 1980.0
        if self.slow_clock_every and len(self.arms) % self.slow_clock_every == 0:
            clock, us = 1500.0, us * 1.3
        dry, self.dry = self.dry > 0, self.dry - 1
        return Arm(us, clock, dry=dry, wall_us=us + 50)

    def clock(self) -> float:
        return self.now


def _measure(stage: FakeStage, rule: Rule = SCREEN, seed: int = 0) -> Samples:
    return measure(stage, rule, np.random.default_rng(seed), clock=stage.clock)


def test_a_quiet_kernel_needs_the_least_number_of_blocks() -> None:
    """Screening stops as soon as the ratio is known to half a per cent."""
    samples = _measure(FakeStage(spread=0.0005))
    assert len(samples.candidate_us) == SCREEN.least
    assert len(samples.baseline_us) == SCREEN.least


def test_a_noisy_kernel_stops_at_a_limit() -> None:
    """Noise that no budget averages out ends at the block limit or the time limit."""
    samples = _measure(FakeStage(spread=0.2), Rule(6, 50, 1e9))
    assert len(samples.candidate_us) == 50
    samples = _measure(FakeStage(spread=0.2, cost=0.1), Rule(6, 500, 2.0))
    assert len(samples.candidate_us) < 10


def test_a_long_kernel_still_gets_a_few_blocks() -> None:
    """When one block exceeds the time limit, some blocks are run all the same."""
    samples = _measure(FakeStage(cost=0.5), Rule(6, 10, 0.1))
    assert 1 <= len(samples.candidate_us) <= 3


def test_both_sides_are_run_equally_often_in_mirrored_order() -> None:
    """Every block is ABBA or BAAB, and both occur."""
    stage = FakeStage(spread=0.05)
    _measure(stage, Rule(6, 40, 1e9))
    blocks = {tuple(stage.arms[n : n + 4]) for n in range(0, len(stage.arms), 4)}
    assert blocks == {
        (CANDIDATE, BASELINE, BASELINE, CANDIDATE),
        (BASELINE, CANDIDATE, CANDIDATE, BASELINE),
    }


def test_a_linear_drift_does_not_tilt_the_ratio() -> None:
    """Clocks that fall steadily while timing slow both sides alike."""
    samples = _measure(FakeStage(spread=0.0, drift=0.5), Rule(6, 20, 1e9))
    assert samples.ratio == pytest.approx(1.0, abs=1e-4)


def test_blocks_at_a_lower_clock_are_repeated() -> None:
    """A block with the SM clock below 97 % of the median leaves no samples, only a count."""
    samples = _measure(FakeStage(slow_clock_every=10), Rule(8, 8, 1e9))
    assert samples.dropped > 0
    assert len(samples.candidate_us) == 8
    assert max(samples.candidate_us) < 11


def test_a_region_whose_queue_ran_dry_is_repeated() -> None:
    """Launch gaps must not be timed."""
    samples = _measure(FakeStage(dry=3), Rule(6, 6, 1e9))
    assert samples.dry == 1
    assert len(samples.candidate_us) == 6


def test_a_clock_that_never_settles_does_not_loop_forever() -> None:
    """Repeats are limited."""
    samples = _measure(FakeStage(slow_clock_every=2), Rule(6, 6, 1e9))
    assert len(samples.candidate_us) == 6


def test_a_known_speedup_is_measured() -> None:
    """Three per cent are seen as three per cent."""
    samples = _measure(FakeStage(means=(10.0, 10.3), spread=0.003), Rule(12, 240, 1e9))
    assert samples.ratio == pytest.approx(1.03, abs=0.004)


def test_half_width_needs_two_samples() -> None:
    """One ratio says nothing about its own error."""
    assert half_width([1.2]) == math.inf
    assert half_width([1.0, 1.1]) > 0.3


@pytest.mark.parametrize(
    ("us", "slab", "room", "expected"),
    [
        ([2.0, 2.0], 1 << 20, 1 << 30, 64),
        ([20.0, 20.0], 1 << 20, 1 << 30, 10),
        ([300.0, 300.0], 1 << 20, 1 << 30, 1),
        ([2.0, 400.0], 1 << 20, 1 << 30, 7),
        ([2.0, 2.0], 1 << 28, 1 << 30, 4),
        ([1e6, 1e6], 1 << 20, 0, 1),
    ],
)
def test_short_kernels_share_a_region(us: list[float], slab: int, room: int, expected: int) -> None:
    """As many launches as the region needs, the slower side and memory allow; at least one."""
    assert launches(us, Rule(6, 10, 1.0), slab, room) == expected


def _decided(stage: FakeStage, rule: Rule = FULL, seed: int = 0) -> Decision:
    """Return what the project's default settings make of a measurement."""
    samples = _measure(stage, rule, seed)
    case = CaseTimes("n=1", tuple(samples.candidate_us), tuple(samples.baseline_us))
    return decide(Measurement((case,), "a fake GPU"), Acceptance())


def test_wildly_varying_times_are_never_called_faster() -> None:
    """Times that scatter by a fifth of themselves leave the question open."""
    decisions = [_decided(FakeStage(spread=0.2, seed=seed), seed=seed) for seed in range(60)]
    assert decisions.count(Decision.FASTER) == 0
    assert decisions.count(Decision.AMBIGUOUS) >= 50


def test_quiet_copies_are_never_called_faster_nor_slower() -> None:
    """At the spread seen on an H200 no copy beats itself."""
    decisions = {_decided(FakeStage(spread=0.004, seed=seed), seed=seed) for seed in range(200)}
    assert decisions == {Decision.SAME}


@dataclass
class ThrottledStage(FakeStage):
    """Falls to 70 % of its clock after some regions, for good or for a while."""

    begins: int = 30
    ends: int = 10**9

    def arm(self, which: int, *, second_of_pair: bool) -> Arm:
        arm = super().arm(which, second_of_pair=second_of_pair)
        if not self.begins <= len(self.arms) < self.ends:
            return arm
        return Arm(arm.us / 0.7, 0.7 * 1980.0, wall_us=arm.wall_us / 0.7)


def test_a_spell_of_throttling_is_repeated_at_the_full_clock() -> None:
    """No sample of the spell is kept, and the ratio is what it was."""
    stage = ThrottledStage(means=(10.0, 10.5), begins=21, ends=41)
    samples = _measure(stage, Rule(12, 12, 1e9))
    assert samples.dropped >= 5
    assert max(samples.candidate_us) < 11
    assert samples.ratio == pytest.approx(1.05, abs=0.003)


def test_throttling_for_good_still_gives_a_fair_ratio() -> None:
    """When the lower clock is the new clock, pairs within a block still compare like with like."""
    stage = ThrottledStage(means=(10.0, 10.5), begins=21, spread=0.001)
    samples = _measure(stage, Rule(40, 40, 1e9))
    assert samples.dropped >= 3
    assert len(samples.candidate_us) == 40
    assert samples.ratio == pytest.approx(1.05, abs=0.003)


@pytest.mark.parametrize(("seconds", "blocks"), [(0.1, 8), (1.0, 3), (10.0, 1)])
def test_a_kernel_of_seconds_is_timed_within_its_bounds(seconds: float, blocks: int) -> None:
    """A block takes four launches: eight of 0.1 s, three of 1 s, one of 10 s, then it is enough."""
    stage = FakeStage(means=(seconds * 1e6, seconds * 1e6), cost=seconds, spread=0.001)
    samples = _measure(stage, FULL)
    assert len(samples.candidate_us) == pytest.approx(blocks, abs=1)


def test_one_block_of_a_very_long_kernel_decides_nothing() -> None:
    """Fewer than three blocks bear no interval, however different they look."""
    stage = FakeStage(means=(10e6, 30e6), cost=10.0)
    assert _decided(stage) is Decision.AMBIGUOUS


def test_a_kernel_of_three_microseconds_fills_a_region() -> None:
    """What one launch cannot show, many behind a gate do: 200 µs a region by the full rule."""
    assert launches([3.0, 3.1], FULL, 1 << 16, 2 << 30) * 3.0 >= 190
