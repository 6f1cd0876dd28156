"""The whole judge on an emulated device: right candidates pass, and those that race do not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from runners.spec import Json
from tests.emulation import judging, library
from tests.redteam import emulate
from tests.redteam.table import load

pytestmark = [
    pytest.mark.skipif(
        library.COMPILER is None or library.cuda_headers() is None,
        reason="g++ and CUDA's headers are needed",
    ),
    pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed"),
]

SUMS = """
extern "C" __global__ void sums(const int* x, int* y, int n) {
    __shared__ int s[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    s[t] = i < n ? x[i] : 0;
    __syncthreads();
    for (int d = 32; d; d >>= 1) { if (t < d) s[t] += s[t + d]; __syncthreads(); }
    if (t == 0) y[blockIdx.x] = s[0];
}
"""
SHUFFLED = """
extern "C" __global__ void sums(const int* x, int* y, int n) {
    __shared__ int s[2];
    int t = threadIdx.x, i = blockIdx.x * 64 + t, v = i < n ? x[i] : 0;
    for (int d = 16; d; d >>= 1) v += __shfl_xor_sync(~0u, v, d);
    if (t % 32 == 0) s[t / 32] = v;
    __syncthreads();
    if (t == 0) y[blockIdx.x] = s[0] + s[1];
}
"""


def _job(text: str) -> Json:
    kernel = {"name": "sums", "path": "sums.cu", "launch": None}
    launch = {"grid": ["(n+63)/64"], "block": ["64"], "shared": "0", "tunable": False}
    return {
        "kernel": {**kernel, "source": text},
        "baseline": {**kernel, "source": SUMS},
        "workload": {
            "name": "sums",
            "kind": "kernel",
            "symbol": "sums",
            "launch": launch,
            "arguments": [
                {"name": "x", "type": "const int*", "shape": "n"},
                {"name": "y", "type": "int*", "shape": "(n+63)/64", "role": "output"},
                {"name": "n", "type": "int", "value": "n"},
            ],
            "cases": [{"values": {"n": 3000}}],
        },
        "effort": "screen",
        "seed": 5,
    }


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (SHUFFLED, "correct"),
        (SHUFFLED.replace("__syncthreads();", ""), "wrong result"),
        (SHUFFLED.replace("y[blockIdx.x]", "y[blockIdx.x + 1]"), "wrong result"),
        # So far out that no process has memory there, whatever else it runs.
        (SHUFFLED.replace("y[blockIdx.x]", "y[blockIdx.x + (1ll << 44)]"), "crashed"),
    ],
)
def test_a_verdict_is_about_answers(tmp_path: Path, text: str, status: str) -> None:
    builds = judging.Builds(tmp_path)
    judge = judging.judge(tmp_path / "judge", builds)
    verdict = judging.verdict(judge, builds, _job(text), 60.0)
    judge.close()
    builds.close()
    assert verdict["status"] == status, verdict["log"]


def test_what_cannot_be_emulated_is_listed_with_its_reason(
    capsys: pytest.CaptureFixture[str],
) -> None:
    hosted = next(one for one in load() if one.base.kind == "program")
    emulate.judged([hosted], 1.0)
    assert "cannot be emulated: host code (program)" in capsys.readouterr().out
