"""Wide accesses in loops that threads share."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.vectorize_rows import vectorize_rows
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator
from tests.optimizer.rules.host_threads import run

BLOCKS = """\
__device__ float joined(float v, float *part) {
    part[threadIdx.x] = v;
    __syncthreads();
    float all = 0.0f;
    for (int t = 0; t < 64; t++) all += part[t];
    __syncthreads();
    return all;
}

__global__ void centre(const float *in, float *out, int cols)
{
    __shared__ float part[64];
    const float *row = in + blockIdx.x * cols;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < cols; i += blockDim.x) {
        sum += row[i];
    }
    const float mean = joined(sum, part) / cols;
    for (int i = threadIdx.x; i < cols; i += blockDim.x)
        out[blockIdx.x * cols + i] = row[i] - mean;
}

void run(const float *in, float *out, int rows, int cols) {
    centre<<<rows, 64>>>(in, out, cols);
}
"""
WARPS = """\
__global__ void softmax(const float *x, float *y, int rows, int cols) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float most = -1e30f;
  for (int j = lane; j < cols; j += 32) most = fmaxf(most, x[row * cols + j]);
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, d));
  float sum = 0;
  for (int j = lane; j < cols; j += 32) {
    y[row * cols + j] = x[row * cols + j] - most;
    sum += y[row * cols + j];
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffff, sum, d);
  for (int j = lane; j < cols; j += 32) y[row * cols + j] /= sum + 1;
}
void run(const float *x, float *y, int rows, int cols) {
  softmax<<<(rows + 1) / 2, 64>>>(x, y, rows, cols);
}
"""
_WIDE = (
    "struct alignas(16) float4 { float x, y, z, w; }; struct alignas(8) float2 { float x, y; };\n"
)


def edits(text: str) -> list[Edit]:
    return list(vectorize_rows(Kernel("k", text), []))


class TestVectorizeRows(RewriteRuleContract):
    applies_to = (Kernel("blocks", BLOCKS), Kernel("warps", WARPS))

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return vectorize_rows


def test_all_loops_of_a_row_are_widened_with_one_constant() -> None:
    found = edits(BLOCKS)
    assert [e.title[:6] for e in found] == ["move 4", "move 2"]
    text = found[0].source
    assert text.count("constexpr int kWidth = 4;") == 1
    head = "for (int first = threadIdx.x * kWidth; first < cols; first += blockDim.x * kWidth)"
    assert text.count(head) == 2
    assert "sum += row_next[j];" in text
    assert "*reinterpret_cast<float4*>(&out[blockIdx.x * cols + first]) =" in text
    assert "centre<<<rows, 64>>>" in text


@pytest.mark.skipif(not emulator.AVAILABLE, reason="no g++")
@pytest.mark.parametrize("text", [BLOCKS, WARPS], ids=["blocks", "warps"])
def test_rows_of_any_length_and_address_give_the_same(text: str, tmp_path: Path) -> None:
    main = r"""
  for (int cols : {1, 130, 256}) for (int shift = 0; shift < 2; shift++) {
    int rows = 3; std::vector<float> in(rows * cols + 4), out(rows * cols + 4, -7.f);
    for (size_t i = 0; i < in.size(); i++) in[i] = (int)(i * 37 % 64) - 32;
    run(in.data() + shift, out.data() + shift, rows, cols);
    double s = 0; for (size_t i = 0; i < out.size(); i++) s += out[i] * (i % 101);
    printf("%.5g ", s);
  }"""
    before = emulator.run(text, main, tmp_path)
    for edit in edits(text)[:1]:
        assert emulator.run(_WIDE + edit.source, main, tmp_path) == before


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("joined(sum, part) / cols", "sum / cols"),  # a thread's own sum is no sum of the row
        ("const float mean = joined", "out[threadIdx.x] = sum;\n    const float mean = joined"),
        ("i += blockDim.x", "i += 32"),
        ("int i = threadIdx.x;", "int i = threadIdx.x + 1;"),
        ("i < cols; i +=", "i < threadIdx.x * 3; i +="),
        ("sum += row[i];", "sum += row[2 * i];"),
        ("sum += row[i];", "if (i % 3) sum += row[i];"),
        ("sum += row[i];", "sum = sum * 2 + row[i];"),
        ("<<<rows, 64>>>", "<<<rows, cols>>>"),
        ("sum += row[i];", "float v[1]; v[i / 64] = row[i]; sum += v[0];"),
    ],
)
def test_what_depends_on_who_has_which_element_is_left_alone(old: str, new: str) -> None:
    first = BLOCKS.partition(
        "    for (int i = threadIdx.x; i < cols; i += blockDim.x)\n        out"
    )[0]
    text = first + "    out[blockIdx.x] = mean;\n}\n" + BLOCKS[BLOCKS.index("\nvoid run") :]
    assert edits(text)
    assert old in text
    assert edits(text.replace(old, new)) == []


def test_an_array_that_another_loop_touches_otherwise_stays_with_its_threads() -> None:
    """Each thread reads back what it wrote: both loops are dealt out alike or neither."""
    other = WARPS.replace(
        "j < cols; j += 32) y[row * cols + j] /=", "j < cols - 1; j += 32) y[row * cols + j] /="
    )
    assert edits(other) == []
    shifted = WARPS.replace(
        "y[row * cols + j] /= sum + 1", "y[row * cols + j] /= sum + y[row * cols]"
    )
    assert edits(shifted) == []


GRID = """\
__global__ void count(const unsigned char *x, int *bins, float *sum, const float *y, int n)
{
    __shared__ int own[16];
    __shared__ float part[2];
    if (threadIdx.x < 16) own[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (; i < n; i += blockDim.x * gridDim.x) {
        atomicAdd(&own[x[i]], 1);
    }
    float total = 0;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += blockDim.x * gridDim.x)
        total += y[k];
    for (int d = 16; d > 0; d /= 2)
        total += __shfl_down_sync(0xffffffff, total, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = total;
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
    if (threadIdx.x == 0) atomicAdd(sum, part[0] + part[1]);
}
void go(const unsigned char *x, int *bins, float *sum, const float *y, int n) {
    count<<<4, 64>>>(x, bins, sum, y, n);
}
"""


def test_what_the_grid_counts_and_adds_up_is_loaded_wide(tmp_path: Path) -> None:
    found = edits(GRID)
    assert [e.title[:6] for e in found] == ["move 4", "move 2"], "of floats, the wider of both"
    text = found[0].source
    assert "int first = (blockIdx.x * blockDim.x + threadIdx.x) * kWidth;" in text
    assert "atomicAdd(&own[x_next[j]], 1);" in text
    assert "total += y_next[j];" in text
    assert "kWidth) {\n" in text
    main = """
  for (int n : {1, 999, 1024}) for (int shift = 0; shift < 2; shift++) {
    std::vector<unsigned char> x(n + 1); std::vector<float> y(n + 1); int bins[16] = {}; float sum = 0;
    for (int i = 0; i <= n; i++) { x[i] = i * 7 % 16; y[i] = i % 5; }
    launch(dim3(2), dim3(64), [&] { count(x.data() + shift, bins, &sum, y.data() + shift, n); });
    for (int b : bins) printf("%d ", b);
    printf("%g ", sum);
  }"""
    before, after = (run(t.partition("void go")[0], main, tmp_path) for t in (GRID, text))
    assert before == after


def test_an_atomic_whose_result_is_used_says_who_was_first() -> None:
    first = GRID.replace("atomicAdd(&own[x[i]], 1);", "bins[16 + i] = atomicAdd(&own[x[i]], 1);")
    assert all("x_next" not in e.source for e in edits(first))
    assert (
        edits(
            GRID.replace("    __syncthreads();\n", "").replace(
                "__shfl_down_sync(0xffffffff, total, d)", "d"
            )
        )
        == []
    )
