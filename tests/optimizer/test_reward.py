"""What a verdict is worth."""

from __future__ import annotations

from dataclasses import replace

import pytest

from optimizer.model import (
    Acceptance,
    CaseTimes,
    Kernel,
    Measurement,
    Resources,
    Status,
    Verdict,
)
from optimizer.reward import (
    FAILED,
    PROXY_WEIGHT,
    CompositeReward,
    changed_lines,
    guardrails,
    judged,
    proxies,
    reading,
)


def ran(*ratios: float, **more: object) -> Verdict:
    cases = tuple(CaseTimes(str(r), (1.0,) * 4, (r,) * 4) for r in ratios)
    return replace(Verdict(Status.CORRECT, Measurement(cases, "a GPU")), **more)  # type: ignore[arg-type]


BASE = ran(1.0, resources={"k": Resources(40)}, counters={"k/dram__bytes.sum": 100.0})


def test_the_baseline_is_worth_nothing() -> None:
    assert CompositeReward()(BASE, BASE) == pytest.approx(0.0)


def test_one_unit_is_the_whole_headroom_for_small_and_large_kernels() -> None:
    small = CompositeReward(headroom=lambda _: 1.1)
    large = CompositeReward(headroom=lambda _: 10.0)
    assert small(ran(1.1), ran(1.0)) == pytest.approx(large(ran(10.0), ran(1.0))) == 1.0


def test_a_headroom_close_to_one_does_not_blow_noise_up() -> None:
    assert CompositeReward(headroom=lambda _: 1.0001)(ran(1.01), ran(1.0)) < 0.25


@pytest.mark.parametrize("status", [s for s in Status if s is not Status.CORRECT])
def test_failure_is_worth_the_same_however_it_came(status: Status) -> None:
    assert CompositeReward()(Verdict(status), BASE) == FAILED
    assert CompositeReward()(Verdict(Status.CORRECT), BASE) == FAILED


def test_proxies_reward_what_fell_and_stay_small() -> None:
    half = ran(1.0, counters={"k/dram__bytes.sum": 50.0, "k/smsp__inst_executed.sum": 3.0})
    assert 0.0 < proxies(half, BASE) <= PROXY_WEIGHT
    assert proxies(ran(1.0, counters={"k/dram__bytes.sum": 0.0}), BASE) <= PROXY_WEIGHT
    assert proxies(ran(1.0, counters={"k/dram__bytes.sum": 400.0}), BASE) < 0.0
    assert proxies(ran(1.0), BASE) == 0.0


def test_guardrails_cost_for_spills_registers_and_slower_cases() -> None:
    accept = Acceptance(max_registers=64)
    assert guardrails(BASE, BASE, accept) == 0.0
    assert guardrails(ran(1.0, resources={"k": Resources(40, spill_bytes=8)}), BASE, accept) > 0.0
    assert guardrails(ran(1.0, resources={"k": Resources(65)}), BASE, accept) > 0.0
    one_slower = guardrails(ran(2.0, 0.9), BASE, accept)
    assert one_slower > 0.0
    assert guardrails(ran(0.9, 0.9), BASE, accept) == pytest.approx(2 * one_slower)


def test_a_faster_kernel_beats_any_bonus_of_a_slower_one() -> None:
    tidy = CompositeReward()(ran(1.10, counters={"k/dram__bytes.sum": 1.0}), BASE) + judged(1.0)
    fast = CompositeReward()(ran(1.25), BASE) + judged(0.0) - reading(10_000)
    assert fast > tidy


def test_changed_lines_count_the_larger_side() -> None:
    before, after = Kernel("k", "a\nb\nc\n"), Kernel("k", "a\nx\ny\nz\nc\n")
    assert changed_lines(before, after) == 3
    assert changed_lines(before, before) == 0
