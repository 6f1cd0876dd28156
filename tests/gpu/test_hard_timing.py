"""Kernels that are hard to time, against themselves on a real GPU: nothing is called faster."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from optimizer.errors import RunnerError
from runners.fault import Fault
from runners.sandbox import Sandbox
from runners.seat import Seat

pytestmark = [pytest.mark.gpu, pytest.mark.timeout(300)]
Json = dict[str, Any]
BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"

LONG = """
extern "C" __global__ void hard(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i % n];
    #pragma unroll 1
    for (int k = 0; k < 18000000; ++k) v = v * 0.999f + 1e-3f;
    if (i < n) y[i] = v;
}
"""
# Spins for 0 to 300 µs, by the low bits of a clock: other times with every launch.
WILD = """
extern "C" __global__ void hard(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    const unsigned long long wait = (begin / 1024 * 2654435761u >> 8) % 300000;
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); while (now - begin < wait);
    if (i < n) y[i] = 2.f * x[i];
}
"""
ALLOCATING = """
#include <cuda_runtime.h>
__global__ void twice(const float* x, float* y, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.f * x[i];
}
void hard(const float* x, float* y, int n) {
    float* scratch;
    cudaMalloc(&scratch, n * sizeof(float));
    twice<<<(n + 255) / 256, 256>>>(x, scratch, n);
    twice<<<(n + 255) / 256, 256>>>(scratch, y, n);
    cudaFree(scratch);
}
"""


def kernels() -> ModuleType:
    """Load the benchmarks' timer, which is no package."""
    if "timed_kernels" not in sys.modules:
        spec = importlib.util.spec_from_file_location(
            "timed_kernels", BENCHMARKS / "timed_kernels.py"
        )
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["timed_kernels"] = module
        spec.loader.exec_module(module)
    return sys.modules["timed_kernels"]


@pytest.fixture(scope="module")
def timer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    try:
        made = kernels().device_timer(0, tmp_path_factory.mktemp("timer"))
    except Fault as fault:
        pytest.skip(fault.message)
    yield made
    made.close()


def job(text: str, n: int, kind: str = "kernel", seed: int = 1) -> Json:
    source = {"name": "hard", "source": text, "path": "hard.cu", "launch": None}
    launch = (
        {"grid": ["(n+255)/256"], "block": ["256"], "shared": "0"} if kind == "kernel" else None
    )
    return {
        "kernel": {**source, "launch": launch},
        "baseline": {**source, "launch": launch},
        "workload": {
            "name": f"hard-{len(text)}-{n}",
            "kind": kind,
            "symbol": "hard",
            "arguments": [
                {"name": "x", "type": "const float*", "shape": "n", "role": "input"},
                {"name": "y", "type": "float*", "shape": "n", "role": "output"},
                {"name": "n", "type": "int", "value": "n"},
            ],
            "cases": [{"values": {"n": n}}],
            "launch": launch,
            "build": {"flags": ["-O3", "-std=c++17"], "include": []},
            "root": ".",
        },
        "effort": "race",
        "seed": seed,
    }


def show(name: str, found: Any) -> None:
    sys.stdout.write(
        f"{name}: {found.candidate_us:.1f} us, {found.blocks} blocks, {found.seconds:.2f} s, "
        f"{found.estimate:.4f} ({found.low:.4f} to {found.high:.4f}) {found.decision}\n"
    )


def test_a_kernel_of_more_than_a_tenth_of_a_second(timer: Any) -> None:
    found = timer.compare(job(LONG, 33792))
    show("long", found)
    assert found.candidate_us > 100_000
    assert found.blocks >= 3
    assert found.seconds < 20
    assert found.decision != "faster"


def test_a_function_that_allocates(timer: Any) -> None:
    for seed in range(1, 4):
        found = timer.compare(job(ALLOCATING, 1 << 20, "entry", seed))
        show("allocating", found)
        assert found.decision in {"same", "ambiguous"}
        assert found.low <= 1.0 <= found.high


def test_a_kernel_whose_time_varies_wildly(timer: Any) -> None:
    for seed in range(1, 8):
        found = timer.compare(job(WILD, 33792, seed=seed))
        show("wild", found)
        assert found.decision != "faster"


def test_a_gpu_that_another_process_computes_on_is_refused(timer: Any, tmp_path: Path) -> None:
    assert timer is not None
    hold = "import pycuda.driver as d; d.init(); c = d.Device(0).make_context()"
    # A daemon of its own: a child of ours would be one of us.
    script = (
        "import os, time\nchild = os.fork()\nif child: print(child); os._exit(0)\n"
        f"os.setsid()\nos.close(1)\n{hold}\ntime.sleep(30)\n"
    )
    run = [sys.executable, "-u", "-c", script]
    other = int(subprocess.run(run, check=True, timeout=60, stdout=subprocess.PIPE).stdout)
    try:
        with Sandbox() as sandbox:
            words = ""
            for _ in range(100):
                try:
                    Seat(0, sandbox, tmp_path, command=["/bin/true"]).close()
                except RunnerError as error:
                    words = error.message
                    break
                time.sleep(0.1)
    finally:
        os.kill(other, signal.SIGKILL)
    if not words:
        pytest.skip("the driver does not tell who computes on the GPU")
    assert "in use by" in words
    assert str(other) in words
