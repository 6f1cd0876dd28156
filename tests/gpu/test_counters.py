"""The kernels with one bottleneck each, profiled on the GPU at hand."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from optimizer.diagnosis import diagnose
from optimizer.evidence import evidence
from optimizer.model import Kernel, Status, Verdict
from runners.profiler import NcuProfiler, Profile, find_ncu

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


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("counters") / "bottlenecks"
    flags = ["-arch=native", "-O3", "-std=c++17", "-lineinfo"]
    subprocess.run(["nvcc", *flags, "-o", str(found), str(SOURCE)], check=True)
    return found


def _profile(program: Path, name: str) -> Profile:
    (found,) = NcuProfiler().session([str(program), name], source=SOURCE.name)
    if not found.counters:
        pytest.skip(found.note)
    return found


@pytest.mark.parametrize(("name", "detector"), EXPECTED.items())
def test_the_built_in_bottleneck_is_among_the_findings(
    program: Path, name: str, detector: str
) -> None:
    profile = _profile(program, name)
    verdict = Verdict(Status.CORRECT, counters=profile.counters, lines=profile.lines)
    kernel = Kernel("bottlenecks", SOURCE.read_text(), SOURCE.name)
    assert detector in {finding.detector for finding in diagnose(kernel, verdict, {})}


def test_lines_point_into_the_kernel(program: Path) -> None:
    profile = _profile(program, "saxpy")
    (seen,) = evidence(Verdict(Status.CORRECT, counters=profile.counters, lines=profile.lines))
    text = SOURCE.read_text().splitlines()
    assert "y[i]" in text[(seen.hottest() or 1) - 1]
