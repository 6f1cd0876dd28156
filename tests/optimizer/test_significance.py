"""When a speedup is real."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.model import Acceptance, CaseTimes, Measurement
from optimizer.significance import (
    Decision,
    case_interval,
    decide,
    interval,
    log_ratios,
    no_difference,
    slower_cases,
    speedup,
)

ACCEPT = Acceptance()


def case(
    ratio: float, blocks: int = 10, noise: float = 0.002, seed: int = 0, weight: float = 1.0
) -> CaseTimes:
    draw = np.random.default_rng(seed)
    base = 100.0 * np.exp(draw.normal(0, 0.01, blocks))
    fast = base / ratio * np.exp(draw.normal(0, noise, blocks))
    return CaseTimes(f"r={ratio}", tuple(fast.tolist()), tuple(base.tolist()), weight)


def of(*cases: CaseTimes) -> Measurement:
    return Measurement(cases, "a GPU")


def test_a_workload_is_the_weighted_geometric_mean_of_median_ratios() -> None:
    cases = (CaseTimes("a", (1.0,) * 3, (8.0,) * 3, 1.0), CaseTimes("b", (1.0,) * 3, (2.0,) * 3, 3))
    assert speedup(of(*cases)) == pytest.approx(8**0.25 * 2**0.75)
    found = interval(of(*cases))
    assert found is not None
    assert found.estimate == pytest.approx(8**0.25 * 2**0.75)
    assert found.low < found.estimate < found.high


def test_one_wild_block_does_not_move_the_estimate() -> None:
    times = CaseTimes("a", (50.0,) * 8 + (500.0,), (100.0,) * 9)
    assert speedup(of(times)) == pytest.approx(2.0)


def test_nothing_timed_is_no_number() -> None:
    assert speedup(None) is None
    assert speedup(of()) is None
    assert interval(of(CaseTimes("a", (), ()))) is None
    assert speedup(of(CaseTimes("a", (0.0,), (1.0,)))) is None
    assert decide(None, ACCEPT) is Decision.AMBIGUOUS


def test_unusable_blocks_are_left_out() -> None:
    times = CaseTimes("a", (1.0, 0.0, float("nan"), 1.0), (2.0, 2.0, 2.0, float("inf")))
    assert log_ratios(times).tolist() == pytest.approx([math.log(2)])


def test_two_blocks_say_nothing_however_alike_they_are() -> None:
    assert decide(of(CaseTimes("a", (1.0, 1.0), (9.0, 9.0))), ACCEPT) is Decision.AMBIGUOUS


@pytest.mark.parametrize(
    ("ratio", "blocks", "wanted"),
    [
        (2.0, 5, Decision.FASTER),
        (1.10, 10, Decision.FASTER),
        (1.035, 4, Decision.AMBIGUOUS),
        (1.0, 30, Decision.SAME),
        (0.9, 10, Decision.SLOWER),
    ],
)
def test_decisions(ratio: float, blocks: int, wanted: Decision) -> None:
    assert decide(of(case(ratio, blocks)), ACCEPT) is wanted


def test_a_win_with_a_slower_case_is_no_win() -> None:
    measured = of(case(2.0, 20, seed=1), case(0.9, 20, seed=2))
    assert decide(measured, ACCEPT) is Decision.AMBIGUOUS
    assert slower_cases(measured) == ("r=0.9",)


def test_the_aa_comparison_must_say_no_difference() -> None:
    assert no_difference(of(case(1.0, 30)))
    assert not no_difference(of(case(1.05, 30)))
    assert not no_difference(None)


def test_an_interval_is_the_same_each_time() -> None:
    assert interval(of(case(1.2))) == interval(of(case(1.2)))


def noisy(draw: np.random.Generator, shape: str, blocks: int, sd: float) -> CaseTimes:
    """Return an A/A case: paired noise of one shape plus what differs from run to run."""
    if shape == "normal":
        noise = draw.normal(0, sd, blocks)
    elif shape == "heavy":
        noise = draw.standard_t(3, blocks) * sd / math.sqrt(3)
    elif shape == "spikes":
        noise = draw.normal(0, sd, blocks)
        noise += (draw.random(blocks) < 0.1) * draw.exponential(5 * sd, blocks)
    else:  # drift: first-order correlation 0.3
        noise = draw.normal(0, sd, blocks)
        for i in range(1, blocks):
            noise[i] = 0.3 * noise[i - 1] + math.sqrt(0.91) * noise[i]
    noise += draw.normal(0, 0.001)
    return CaseTimes("a", (1.0,) * blocks, tuple(np.exp(noise).tolist()))


@pytest.mark.parametrize("shape", ["normal", "heavy", "spikes", "drift"])
@pytest.mark.parametrize("blocks", [3, 5, 10, 30])
def test_false_wins_stay_under_what_the_confidence_allows(shape: str, blocks: int) -> None:
    """At 99 % each bound may be crossed once in 200; 600 A/A trials allow 3, and luck 4 more."""
    draw = np.random.default_rng(blocks)
    low = high = 0
    for _ in range(600):
        found = case_interval(noisy(draw, shape, blocks, draw.uniform(0.002, 0.007)))
        assert found is not None
        low += found.low > 1.0
        high += found.high < 1.0
    assert low <= 7
    assert high <= 7 + 600 * 0.01 * (shape == "spikes")


def test_no_win_is_claimed_in_200_aa_runs() -> None:
    draw = np.random.default_rng(7)
    for trial in range(200):
        shape = ("normal", "heavy", "spikes", "drift")[trial % 4]
        cases = [noisy(draw, shape, 6, 0.007) for _ in range(3)]
        assert decide(of(*cases), ACCEPT) is not Decision.FASTER


def test_more_blocks_narrow_the_interval() -> None:
    few, many = interval(of(case(1.5, 4))), interval(of(case(1.5, 60)))
    assert few is not None
    assert many is not None
    assert many.high - many.low < 0.5 * (few.high - few.low)


def test_an_interval_costs_little() -> None:
    measured = of(*(case(1.5, 30, seed=i) for i in range(5)))
    interval(measured)
    began = time.thread_time()
    for _ in range(20):
        interval(measured)
    assert (time.thread_time() - began) / 20 < 0.02


@given(
    st.lists(
        st.tuples(
            st.floats(allow_nan=True, allow_infinity=True),
            st.floats(allow_nan=True, allow_infinity=True),
        ),
        max_size=12,
    ),
    st.floats(min_value=0, max_value=1e6),
)
def test_no_times_however_odd_break_the_arithmetic(
    pairs: list[tuple[float, float]], weight: float
) -> None:
    times = CaseTimes("a", tuple(a for a, _ in pairs), tuple(b for _, b in pairs), weight)
    found = interval(of(times))
    decide(of(times), ACCEPT)
    speedup(of(times))
    if found is not None:
        assert found.low <= found.estimate <= found.high
