"""Stage 1: classes, roofline shares, headroom, and what is said without counters."""

from __future__ import annotations

from dataclasses import replace

import pytest

from optimizer import counters
from optimizer.bottleneck import classify, headroom
from optimizer.bound import Bound
from optimizer.model import CaseTimes, Measurement, Status, Verdict
from tests.optimizer.detectors.recorded import PEAKS, recording, verdict


@pytest.mark.parametrize(
    ("kernel", "bound"),
    [
        ("saxpy_vector", Bound.MEMORY),
        ("transpose_naive", Bound.MEMORY),
        ("transpose_conflict", Bound.MEMORY),
        ("matmul_naive", Bound.MEMORY),
        ("many_blocks", Bound.COMPUTE),
        ("slow_math", Bound.COMPUTE),
        ("double_literals", Bound.COMPUTE),
        ("pointer_chase", Bound.LATENCY),
        ("low_occupancy", Bound.LATENCY),
        ("small_grid", Bound.LATENCY),
        ("long_blocks", Bound.LATENCY),
        ("tiny", Bound.LAUNCH),
    ],
)
def test_recorded_kernels_are_classed_as_they_were_built(kernel: str, bound: Bound) -> None:
    found = classify(verdict(kernel), PEAKS, kernel)
    assert found.kind is bound
    assert bound.value in found.words
    assert found.confidence > 0.5


def test_a_copy_reaches_the_roofline_and_an_uncoalesced_kernel_does_not() -> None:
    copy = classify(verdict("saxpy_vector"), PEAKS)
    rows = classify(verdict("row_sum_strided"), PEAKS)
    assert copy.share is not None
    assert copy.share > 0.95
    assert copy.headroom == pytest.approx(1 / copy.share)
    assert rows.headroom is not None
    assert rows.headroom > 4
    assert copy.achieved_gbs == pytest.approx(4314, rel=0.01)


def test_arithmetic_counts_against_the_peak_of_its_own_precision() -> None:
    single = classify(verdict("many_blocks"), PEAKS)
    assert single.share is not None
    assert single.share > 0.9
    assert single.achieved_tflops == pytest.approx(60.8, rel=0.01)
    tensor = classify(verdict("matmul_wmma"), PEAKS)
    assert tensor.tensor
    assert tensor.achieved_tflops == pytest.approx(45, rel=0.05)
    assert tensor.share is not None
    assert tensor.share < 0.1


@pytest.mark.parametrize("kernel", sorted(recording()["kernels"]))
def test_shares_and_headroom_are_in_range_with_and_without_peaks(kernel: str) -> None:
    for peaks in (PEAKS, {}):
        found = classify(verdict(kernel), peaks, kernel)
        assert found.share is not None
        assert 0 < found.share <= 1
        assert found.headroom is not None
        assert found.headroom >= 1


def test_without_counters_sass_gives_a_class_with_little_confidence_and_no_headroom() -> None:
    compute = classify(verdict("slow_math", counters=False), PEAKS)
    memory = classify(verdict("saxpy", counters=False), PEAKS)
    assert compute.kind is Bound.COMPUTE
    assert memory.kind is Bound.MEMORY
    for found in (compute, memory):
        assert found.confidence < 0.5
        assert found.headroom is None
        assert found.share is None


def test_nothing_known_is_said_to_be_nothing() -> None:
    found = classify(Verdict(Status.CORRECT), PEAKS)
    assert found.confidence == 0
    assert found.headroom is None
    assert classify(verdict("saxpy"), PEAKS, "another").confidence == 0


def test_the_headroom_of_a_program_weighs_its_kernels_by_time() -> None:
    copy, rows = verdict("saxpy_vector"), verdict("row_sum_strided")
    both = replace(
        copy,
        counters={**copy.counters, **rows.counters},
        resources={**copy.resources, **rows.resources},
        measurement=Measurement(
            (CaseTimes("default", (1.0,), (1.0,)),),
            "gpu",
            kernels={"saxpy_vector": 0.9, "row_sum_strided": 0.1},
        ),
    )
    alone, whole = headroom(rows, PEAKS), headroom(both, PEAKS)
    assert alone is not None
    assert whole is not None
    assert 1.05 < whole < 1.2 < alone


def test_a_kernel_without_counters_makes_the_headroom_of_all_unknown() -> None:
    seen = verdict("saxpy")
    more = replace(seen, resources={**seen.resources, "other": seen.resources["saxpy"]})
    assert headroom(more, PEAKS) is None


def test_the_busiest_unit_is_named() -> None:
    assert "the XU pipe" in classify(verdict("double_literals"), PEAKS).words
    changed = {counters.FP64_PCT: 95.0, counters.XU_PCT: 10.0}
    assert "the FP64 pipe" in classify(verdict("double_literals", changed), PEAKS).words
