"""Captured on a real GPU, launches hold what went in and what came out."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from bot import capture
from bot.capture import Done, Order
from runners import captured
from runners.capture import record
from runners.capture.record import Wanted
from tests.gpu.ahead import Ahead, Parameters

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.beside,
    pytest.mark.skipif(
        not Path("/dev/nvidiactl").exists() or shutil.which("nvcc") is None,
        reason="needs an NVIDIA GPU and nvcc",
    ),
]
PROGRAMS = Path(__file__).resolve().parents[1] / "data" / "capture"
_BUILDING: dict[str, Future[Path]] = {}


def compile_ahead(ahead: Ahead, _: Sequence[Parameters]) -> None:
    """Begin to compile the programs that are captured."""
    for name in ("attention_weights", "imaging"):
        _BUILDING[name] = ahead.nvcc(PROGRAMS / f"{name}.cu", ["-std=c++17"])


def _captured(tmp_path: Path, name: str, through: record.Through, *arguments: str) -> Done:
    if through == "cupti" and record.cupti() is None:
        pytest.skip("CUPTI is not installed")
    shutil.copy(PROGRAMS / f"{name}.cu", tmp_path)
    program = Path(shutil.copy(_BUILDING[name].result(), tmp_path))
    order = Order((str(program), *arguments), Wanted(()), tmp_path / "cap", through=through)
    return capture.capture(order, tmp_path, tmp_path / "cache")


@pytest.mark.parametrize("through", ["cupti", "preload"])
def test_a_template_kernels_launches_are_captured_with_their_results(
    tmp_path: Path, through: record.Through
) -> None:
    done = _captured(tmp_path, "attention_weights", through, "64", "96")
    assert done.status == 0
    assert not done.troubles
    names = {one.workload.symbol: one.workload for one in done.found}
    assert set(names) == {"attention::weights<float, true>", "attention::weights<double, true>"}
    workload = names["attention::weights<float, true>"]
    assert [a.shape for a in workload.arguments[:2]] == ["rows*cols", "rows*cols"]
    case = workload.cases[0].values
    scores = captured.contents(tmp_path, workload.arguments[0].init, case, 64 * 96, 4)
    out = captured.expected(tmp_path, workload.arguments[1].init, case, 64 * 96 * 4)
    assert out is not None
    x = scores.view(np.float32).reshape(64, 96).astype(np.float64)
    wanted = np.exp((x - x.max(1, keepdims=True)) * 0.125)
    wanted /= wanted.sum(1, keepdims=True)
    assert np.allclose(out.view(np.float32).reshape(64, 96), wanted, rtol=1e-5)


@pytest.mark.parametrize("through", ["cupti", "preload"])
def test_streams_managed_and_pooled_memory_are_captured(
    tmp_path: Path, through: record.Through
) -> None:
    done = _captured(tmp_path, "imaging", through, "128", "96")
    assert done.status == 0
    assert not done.troubles
    names = {one.workload.name: one.workload for one in done.found}
    assert set(names) == {"count_levels", "to_float", "blur", "row_stats"}
    kinds = {
        argument.memory
        for kernel in done.made.capture.kernels
        for launch in kernel.launches
        for argument in launch.arguments
        if argument.kind == "pointer"
    }
    assert kinds == {"device", "managed", "pool"}
    stats = names["row_stats"]
    case = stats.cases[0].values
    image = captured.contents(tmp_path, stats.arguments[0].init, case, 128 * 96, 4)
    mean = captured.expected(tmp_path, stats.arguments[1].init, case, 128 * 4)
    assert mean is not None
    wanted = image.view(np.float32).reshape(128, 96).mean(1)
    assert np.allclose(mean.view(np.float32), wanted, rtol=1e-4)
