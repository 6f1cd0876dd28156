"""Stage 2: which detectors run, in what order their findings come, what a broken one does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from optimizer import plugins
from optimizer.bound import Bound
from optimizer.diagnosis import Diagnosis, diagnose
from optimizer.evidence import Evidence, detector
from optimizer.interfaces import Detector
from optimizer.model import CaseTimes, Finding, Kernel, Measurement, Verdict
from tests.optimizer.detectors.recorded import KERNEL, PEAKS, recording, verdict

ANSWERS = {
    "row_sum_strided": "uncoalesced-access",
    "transpose_naive": "uncoalesced-access",
    "transpose_conflict": "bank-conflicts",
    "histogram_global": "atomics-contention",
    "double_literals": "double-precision",
    "integer_division": "integer-division",
    "slow_math": "slow-arithmetic",
    "divergent": "divergence",
    "serial_thread": "serial-thread",
    "tree_reduce": "tree-reduction",
    "long_blocks": "tail-effect",
    "small_grid": "small-grid",
    "low_occupancy": "occupancy-limiter",
    "spilling": "register-pressure",
    "local_array": "local-array",
    "matmul_naive": "tiling-chance",
    "accumulate_global": "global-accumulator",
    "index_heavy": "index-arithmetic",
    "brighten_bytes": "vectorizable-access",
}


@pytest.mark.parametrize(("kernel", "first"), ANSWERS.items())
def test_the_bottleneck_a_kernel_was_built_with_comes_first(kernel: str, first: str) -> None:
    found = diagnose(KERNEL, verdict(kernel), PEAKS)
    assert found[0].detector == first


def test_a_kernel_at_the_roofline_is_promised_nothing() -> None:
    for kernel in ("saxpy_vector", "many_blocks"):
        for finding in diagnose(KERNEL, verdict(kernel), PEAKS):
            assert finding.expected is not None
            assert finding.expected < 1.1


def _telling(*bounds: Bound) -> Detector:
    @detector("telling", *bounds)
    def look(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
        yield Finding("", "seen", expected=1.5)

    return look


def test_only_detectors_of_the_class_run_when_the_class_is_sure() -> None:
    memory = {"telling": _telling(Bound.MEMORY)}
    assert diagnose(KERNEL, verdict("saxpy"), PEAKS, memory)
    assert not diagnose(KERNEL, verdict("many_blocks"), PEAKS, memory)
    assert diagnose(KERNEL, verdict("many_blocks", counters=False), PEAKS, memory)


def _together(first: float, second: float) -> Verdict:
    one, two = verdict("double_literals"), verdict("row_sum_strided")
    return replace(
        one,
        counters={**one.counters, **two.counters},
        resources={**one.resources, **two.resources},
        instructions={**one.instructions, **two.instructions},
        measurement=Measurement(
            (CaseTimes("default", (1.0,), (1.0,)),),
            "gpu",
            kernels={"double_literals": first, "row_sum_strided": second},
        ),
    )


def test_kernels_with_more_of_the_time_come_first_and_those_with_hardly_any_not_at_all() -> None:
    assert diagnose(KERNEL, _together(0.9, 0.1), PEAKS)[0].subject == "double_literals"
    assert diagnose(KERNEL, _together(0.1, 0.9), PEAKS)[0].subject == "row_sum_strided"
    rest = diagnose(KERNEL, _together(0.99, 0.01), PEAKS)
    assert {finding.subject for finding in rest} == {"double_literals"}


def test_a_plugin_that_raises_is_noted_and_the_others_go_on() -> None:
    def broken(kernel: Kernel, verdict: Verdict | None) -> Iterator[Finding]:
        raise ZeroDivisionError("by me")
        yield

    @detector("inner")
    def inner(seen: Evidence, kernel: Kernel) -> Iterator[Finding]:
        raise KeyError(seen.name)
        yield

    tools: dict[str, Detector] = {"broken": broken, "inner": inner, "telling": _telling()}
    diagnosis = Diagnosis(PEAKS, tools)
    assert [f.message for f in diagnosis(KERNEL, verdict("saxpy"))] == ["seen"]
    assert any("by me" in note for note in diagnosis.notes)
    assert any("saxpy" in note for note in diagnosis.notes)


def test_a_plain_function_is_a_detector_of_every_class() -> None:
    def plain(kernel: Kernel, verdict: Verdict | None) -> Iterator[Finding]:
        yield Finding("plain", kernel.name)

    (finding,) = diagnose(KERNEL, verdict("saxpy"), PEAKS, {"plain": plain})
    assert finding.detector == "plain"


def test_before_running_only_what_blocks_is_asked() -> None:
    launch = Kernel("k", "__global__ void k() {}\nvoid f() { k<<<1, 2048>>>(); }\n")
    found = list(Diagnosis(PEAKS)(launch, None))
    assert [f.detector for f in found if f.blocking] == ["impossible-launch"]
    assert list(Diagnosis(PEAKS)(KERNEL, None)) == []


def test_diagnosing_twice_gives_the_same() -> None:
    for kernel in recording()["kernels"]:
        assert diagnose(KERNEL, verdict(kernel), PEAKS) == diagnose(KERNEL, verdict(kernel), PEAKS)


def test_every_shipped_detector_loads_without_a_note() -> None:
    notes: list[str] = []
    assert len(plugins.detectors(notes)) >= 16
    assert notes == []
