"""Trees in device functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Kernel
from optimizer.rules.shuffle_function import shuffle_function
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules.host_threads import run

ROWS = """\
constexpr int kThreads = 64;

__device__ float block_sum(float value, float* scratch)
{
    int tid = threadIdx.x;
    scratch[tid] = value;
    __syncthreads();
    for (int offset = kThreads / 2; offset > 0; offset /= 2) {
        if (tid < offset) scratch[tid] += scratch[tid + offset];
        __syncthreads();
    }
    float total = scratch[0];
    __syncthreads();
    return total;
}

__global__ void norm(const float *x, float *y, int cols)
{
    __shared__ float scratch[kThreads];
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += kThreads) sum += x[blockIdx.x * cols + i];
    float mean = block_sum(sum, scratch) / cols;
    float sq = 0.0f;
    for (int i = threadIdx.x; i < cols; i += kThreads) {
        float d = x[blockIdx.x * cols + i] - mean;
        sq += d * d;
    }
    sq = block_sum(sq, scratch);
    for (int i = threadIdx.x; i < cols; i += kThreads) y[blockIdx.x * cols + i] = sq;
}

void go(const float *x, float *y, int rows, int cols) { norm<<<rows, kThreads>>>(x, y, cols); }
"""
MOST = """\
__device__ float largest(float *s, float v) {
  s[threadIdx.x] = v;
  __syncthreads();
  for (unsigned k = blockDim.x >> 1; k > 0; k >>= 1) {
    if (threadIdx.x < k) { s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + k]); }
    __syncthreads();
  }
  return s[0];
}
__global__ void peaks(const float *x, float *y, int n) {
  __shared__ float s[128];
  float v = -1e30f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) v = fmaxf(v, x[i]);
  v = largest(s, v);
  if (threadIdx.x == 0) y[blockIdx.x] = v;
}
void go(const float *x, float *y, int n) { peaks<<<2, 128>>>(x, y, n); }
"""


class TestShuffleFunction(RewriteRuleContract):
    applies_to = (Kernel("rows", ROWS), Kernel("most", MOST))

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return shuffle_function


def edits(text: str) -> list[str]:
    return [e.source for e in shuffle_function(Kernel("k", text), [])]


def test_a_tree_in_a_function_becomes_shuffles_and_a_value_a_warp() -> None:
    (text,) = edits(ROWS)
    assert "value += __shfl_xor_sync(0xffffffff, value, offset);" in text
    assert "if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;" in text
    assert "for (int w = 1; w < kThreads / 32; w++)" in text
    assert "float total = value;" in text
    assert "int tid" not in text
    (text,) = edits(MOST)
    assert "v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, k));" in text
    assert "w < blockDim.x / 32" in text
    assert "return v;" in text


def test_blocks_are_folded_to_the_same(tmp_path: Path) -> None:
    spaces = "".join(
        f"namespace {name} {{ {text.partition('void go')[0]} }}\n"
        for name, text in (
            ("rows_before", ROWS),
            ("rows_after", edits(ROWS)[0]),
            ("most_before", MOST),
            ("most_after", edits(MOST)[0]),
        )
    )
    main = """
  std::vector<float> x(600); for (int i = 0; i < 600; i++) x[i] = i * 37 % 64;
  auto same = [&](auto before, auto after) {
    std::vector<float> y(600, -1.f), z(600, -1.f);
    before(y.data()); after(z.data());
    float off = 0; for (int i = 0; i < 600; i++) off = max(off, std::fabs(y[i] - z[i]) / (1 + std::fabs(y[i])));
    puts(off < 1e-5f ? "same" : "other");
  };
  for (int c : {1, 70, 200})
    same([&](float *y) { launch(dim3(3), dim3(64), [&] { rows_before::norm(x.data(), y, c); }); },
         [&](float *y) { launch(dim3(3), dim3(64), [&] { rows_after::norm(x.data(), y, c); }); });
  same([&](float *y) { launch(dim3(2), dim3(128), [&] { most_before::peaks(x.data(), y, 300); }); },
       [&](float *y) { launch(dim3(2), dim3(128), [&] { most_after::peaks(x.data(), y, 300); }); });"""
    assert run(spaces, main, tmp_path).split() == ["same"] * 4


@pytest.mark.parametrize(
    ("text", "old", "new"),
    [
        (
            ROWS,
            "    __syncthreads();\n    return total;",
            "    return total;",
        ),  # the next call may be ahead
        (ROWS, "kThreads / 2;", "kThreads / 4;"),
        (ROWS, "<<<rows, kThreads>>>", "<<<rows, rows>>>"),
        (ROWS, "kThreads = 64", "kThreads = 96"),
        (ROWS, "= sq;", "= sq + scratch[1];"),
        (ROWS, "scratch[tid] = value;", "scratch[tid] = value * 2;"),
        (ROWS, "= scratch[0];", "= scratch[1];"),
        (ROWS, "return total;", "return total + value;"),
        (ROWS, "scratch[tid] += scratch[tid + offset]", "scratch[tid] -= scratch[tid + offset]"),
        (MOST, "  v = largest(s, v);", "  for (int t = 0; t < n; t++) v = largest(s, v);"),
        (
            MOST,
            "void go(",
            "__global__ void two(float *y) { __shared__ float t[32]; y[0] = largest(t, 1); }\nvoid go(",
        ),
    ],
)
def test_other_trees_and_other_uses_are_left_alone(text: str, old: str, new: str) -> None:
    assert old in text
    assert edits(text.replace(old, new)) == []
