"""The kernels with one bottleneck each, profiled on the GPU at hand."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

import pytest

from optimizer.diagnosis import diagnose
from optimizer.evidence import evidence
from optimizer.model import Kernel, Status, Verdict
from runners.profiler import NcuProfiler, Profile, find_ncu
from tests.gpu.ahead import Ahead, Parameters

SOURCE = Path(__file__).with_name("bottlenecks.cu")
# What does not depend on the size of the GPU, from its counters alone.
EXPECTED = {
    "row_sum_strided": "uncoalesced-access",
    "transpose_naive": "uncoalesced-access",
    "transpose_conflict": "bank-conflicts",
    "histogram_global": "atomics-contention",
    "divergent": "divergence",
    "matmul_naive": "tiling-chance",
}
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="there is no NVIDIA GPU here"),
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="there is no nvcc here"),
    pytest.mark.skipif(find_ncu() is None, reason="there is no ncu here"),
]

_BUILDING: list[Future[Path]] = []


def compile_ahead(ahead: Ahead, _: Sequence[Parameters]) -> None:
    """Begin to compile the program that is profiled."""
    _BUILDING.append(ahead.nvcc(SOURCE, ["-O3", "-std=c++17", "-lineinfo"]))


@pytest.fixture(scope="module")
def profile() -> Profile:
    """Profile all of them in one session."""
    program = _BUILDING[-1].result()
    names = [*EXPECTED, "saxpy"]
    (found,) = NcuProfiler().session([str(program)], kernels=names, source=SOURCE.name)
    if not found.counters:
        pytest.skip(found.note)
    return found


def _verdict(profile: Profile, name: str) -> Verdict:
    return Verdict(
        Status.CORRECT,
        counters={k: v for k, v in profile.counters.items() if k.startswith(f"{name}/")},
        lines={k: v for k, v in profile.lines.items() if k.startswith(f"{name}:")},
    )


@pytest.mark.parametrize(("name", "detector"), EXPECTED.items())
def test_the_built_in_bottleneck_is_among_the_findings(
    profile: Profile, name: str, detector: str
) -> None:
    kernel = Kernel("bottlenecks", SOURCE.read_text(), SOURCE.name)
    found = diagnose(kernel, _verdict(profile, name), {})
    assert detector in {finding.detector for finding in found}


def test_lines_point_into_the_kernel(profile: Profile) -> None:
    (seen,) = evidence(_verdict(profile, "saxpy"))
    text = SOURCE.read_text().splitlines()
    assert "y[i]" in text[(seen.hottest() or 1) - 1]
