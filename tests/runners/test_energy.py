"""Energy is read between steps of the counter, in pairs of arms, or not at all with a reason."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence

import pytest

from runners import energy
from runners.energy import EMPTY, Clock, Mark, Reading, Rule, launched
from runners.nvml import Unmeasured
from runners.timing import BASELINE, CANDIDATE
from tests.runners.fake_meter import FakeMeter

QUICK = Rule(0.02, 0.2, 2, 4, 0.5, rests=False)


class FakeBurning:
    """Runs at a rate and a power each for candidate, original and refilling."""

    def __init__(
        self,
        meter: FakeMeter,
        rates: Sequence[float] = (2000.0, 1000.0, 8000.0),
        watts: Sequence[float] = (300.0, 400.0, 200.0),
        *,
        in_place: bool = False,
    ) -> None:
        self.meter, self.rates, self.watts, self.in_place = meter, rates, watts, in_place
        self.arms: list[int] = []

    def burn(self, which: int, seconds: float, *, second_of_pair: bool) -> Sequence[Mark]:
        assert second_of_pair == (which != EMPTY and len([a for a in self.arms if a < 2]) % 2 == 1)
        self.arms.append(which)
        self.meter.draw(self.watts[which])
        begun = time.monotonic()
        marks = [(begun, 0)]
        while marks[-1][0] < begun + seconds:
            time.sleep(0.01)
            now = time.monotonic()
            marks.append((now, int((now - begun) * self.rates[which])))
        self.meter.draw(50.0)
        return marks


def test_energy_a_launch_is_power_over_rate() -> None:
    """400 W at 1,000 launches a second are 400 mJ; 300 W at 2,000 are 150 mJ."""
    meter = FakeMeter()
    burning = FakeBurning(meter)
    found = energy.measure(burning, meter, QUICK)
    assert statistics.median(found.baseline_mj) == pytest.approx(400, rel=0.15)
    assert statistics.median(found.candidate_mj) == pytest.approx(150, rel=0.15)
    assert statistics.median(found.ratios) == pytest.approx(400 / 150, rel=0.15)
    assert statistics.median(found.candidate_us) == pytest.approx(500, rel=0.05)
    assert found.step_ms == pytest.approx(5, rel=0.8)
    assert energy.checked(found, "n=1") is found


def test_arms_alternate_in_abba_order() -> None:
    """What drifts with time meets both sides alike, a bend in the drift included."""
    meter = FakeMeter()
    burning = FakeBurning(meter)
    # Long enough for a few steps where a busy machine lets the sampler wait.
    energy.measure(burning, meter, Rule(0.0, 0.2, 4, 4, 0.0, rests=False))
    assert burning.arms == [
        CANDIDATE, BASELINE, BASELINE, CANDIDATE, BASELINE, CANDIDATE, CANDIDATE, BASELINE,
    ]  # fmt: skip


def test_refilling_buffers_is_taken_off() -> None:
    """An in-place kernel's launches come with a refill, whose energy and time are not its own."""
    meter = FakeMeter()
    # A launch and a refill: 1 ms at 400 W; a refill alone: 0.125 ms at 200 W = 25 mJ.
    found = energy.measure(FakeBurning(meter, in_place=True), meter, QUICK)
    assert statistics.median(found.baseline_mj) == pytest.approx(400 - 25, rel=0.15)
    assert statistics.median(found.baseline_us) == pytest.approx(1000 - 125, rel=0.1)


def test_a_kernel_that_drowns_in_its_refill_is_not_measured() -> None:
    """The small difference of two large figures is no figure."""
    meter = FakeMeter()
    burning = FakeBurning(meter, (1000.0, 1000.0, 1100.0), (200.0, 200.0, 200.0), in_place=True)
    with pytest.raises(Unmeasured, match="refilling"):
        energy.measure(burning, meter, QUICK)


def test_a_counter_that_hardly_moves_is_not_read() -> None:
    """A window of fewer than four steps says nothing."""
    meter = FakeMeter(step=0.15)
    with pytest.raises(Unmeasured, match="moved"):
        energy.measure(FakeBurning(meter), meter, QUICK)


@pytest.mark.parametrize("last", [0, 1, 20])
def test_a_counter_lost_on_the_way_is_a_reason(last: int) -> None:
    """Before the first arm or in the middle of one: no figure, and no thread left behind."""
    meter = FakeMeter(last=last)
    with pytest.raises(Unmeasured, match="lost"):
        energy.measure(FakeBurning(meter), meter, QUICK)


def test_a_hot_gpu_is_waited_for_but_not_for_ever() -> None:
    """An arm begins within 3 degrees of the first, or after the longest wait."""
    slept: list[float] = []
    now = [0.0]

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += seconds

    meter = FakeMeter()
    meter.celsius = [60.0, 50.0, 42.0]
    energy._cool(meter, 43.0, Clock(lambda: now[0], sleep))
    assert len(slept) == 2
    meter.celsius = [60.0] * 1000
    energy._cool(meter, 43.0, Clock(lambda: now[0], sleep))
    assert energy.COOLING_SECONDS <= sum(slept) <= energy.COOLING_SECONDS + 1.0


def test_idle_power_is_that_of_rest() -> None:
    """The counter's rise over a rest, in W."""
    meter = FakeMeter(watts=80.0)
    clock = Clock(sleep=lambda seconds: time.sleep(seconds / 10))
    assert energy.idle_w(meter, clock) == pytest.approx(80.0, rel=0.15)


def test_launches_between_marks_are_in_proportion() -> None:
    """Before the first mark there are none, after the last one all."""
    marks = [(1.0, 0), (2.0, 10), (4.0, 20)]
    assert [launched(marks, t) for t in (0.0, 1.0, 1.5, 3.0, 4.0, 9.0)] == [0, 0, 5, 15, 20, 20]


def test_launches_that_behave_otherwise_back_to_back_are_told_apart() -> None:
    """A ratio that is far from the timed one: something is not what was timed."""
    reading = Reading([1.0], [2.0], [10.0], [20.0])
    assert energy.alike(reading, [10.0, 10.0], [20.0, 20.0])
    assert not energy.alike(reading, [10.0, 10.0], [10.0, 10.0])
    for one in (Reading([math.nan], [1.0], [1.0], [1.0]), Reading([1.0], [0.0], [1.0], [1.0])):
        with pytest.raises(Unmeasured, match="no usable figures"):
            energy.checked(one, "n=1")
