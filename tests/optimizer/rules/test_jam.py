"""Loops that a thread walks once for several outputs."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.boundary import violations
from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.jam import jam
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

FORCES = """\
// all pairs
__global__ void forces(const float *x, const float *m, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float xi = x[i];      // where it is
    float sum = 0.0f, most = 0.0f;
    for (int j = 0; j < n; ++j) {
        float d = x[j] - xi;
        if (j == i) continue;
        sum += m[j] * d / (d * d + 1.0f);
        most = fmaxf(most, d);
    }
    sum *= m[i];
    out[i] = sum + most;
}
void run(const float *x, const float *m, float *out, int n, int d) {
    int blocks = (n + 31) / 32;
    forces<<<blocks, 32>>>(x, m, out, n);
}
"""
PRODUCT = """\
__global__ void product(const float* a, const float* b, float* c, int n, int d) {
\tint col = threadIdx.x + blockIdx.x * blockDim.x;
\tint row = threadIdx.y + blockIdx.y * blockDim.y;
\tif (row < n && col < d) {
\t\tfloat acc = 0;
\t\tfor (int k = 0; k < n; k++)
\t\t\tacc += a[row * n + k] * b[k * d + col];
\t\tc[row * d + col] = acc;
\t}
}
void run(const float *a, const float *b, float *c, int n, int d) {
\tdim3 block(8, 4);
\tdim3 grid((d + block.x - 1) / block.x, (n + block.y - 1) / block.y);
\tproduct<<<grid, block>>>(a, b, c, n, d);
}
"""
NEAREST = """\
#define DIM 3
__global__ void nearest(const float *points, const float *centers, float *label, const int n, int k)
{
  const size_t tid = blockIdx.x * blockDim.x + threadIdx.x;
  int i, j, index;
  if (tid < n) {
    size_t row = tid * DIM;
    float best = 1e30f;
    float mean[DIM] = {0.f};
    index = -1;
    for (i = 0; i < k; i++) {
      int base = i * DIM;
      float dist = 0;
      for (j = 0; j < DIM; j++) {
        float t = points[row + j] - centers[base + j];
        dist += t * t;
        mean[j] += t;
      }
      if (dist < best) { best = dist; index = i; }
    }
    label[tid] = index;
    for (j = 0; j < DIM; j++) label[n + row + j] = mean[j];
  }
}
void run(const float *p, const float *c, float *l, int n, int k) {
  nearest<<<(n + 63) / 64, 64>>>(p, c, l, n, k);
}
"""
EXACT = """\
__global__ void energy(const float *x, const float *q, float *grid, int n, float step) {
  unsigned int xi = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned int yi = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned int out = gridDim.x * blockDim.x * yi + xi;
  float cx = step * xi;
  float cy = step * yi;
  float sum = 0.0f;
  int j;
  for (j = 0; j < n; j++) {
    float dx = cx - x[2 * j];
    float dy = cy - x[2 * j + 1];
    sum += q[j] / (1.0f + dx * dx + dy * dy);
  }
  grid[out] += sum;
}
void run(const float *x, const float *q, float *grid, int n, int d) {
  dim3 block(16, 8);
  dim3 blocks(2, n);
  energy<<<blocks, block>>>(x, q, grid, n, d * 0.125f);
}
"""
HEAD = "__global__ void k(const float *a, float *o, int m, int n) {\n"
ID = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
RUN = "void run(const float *a, float *o, int m, int n) { k<<<(n + 31) / 32, 32>>>(a, o, m, n); }\n"
LOOP = "  for (int j = 0; j < m; j++) s += a[j] * a[i];\n"


def edits(text: str) -> list[Edit]:
    return list(jam(Kernel("run", text, "k.cu"), []))


class TestJam(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(
        Kernel("run", text, "k.cu") for text in (FORCES, PRODUCT, NEAREST, EXACT)
    )

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return jam


def test_what_outlives_a_run_becomes_an_array_and_the_rest_stays() -> None:
    text = edits(FORCES)[0].source
    assert "float xi[4];" in text
    assert "float d = x[j] - xi[item];" in text
    assert "forces<<<(blocks + 3) / 4, 32>>>" in text
    assert "if (i < n) {\n            out[i] = sum[item] + most[item];" in text
    assert "xi[item] = x[i];      // where it is\n" in text


def test_rows_lie_side_by_side_and_columns_a_block_apart() -> None:
    down, across = (next(e.source for e in edits(PRODUCT) if e.title.endswith(a)) for a in "yx")
    assert "int row_first = (threadIdx.y + blockIdx.y * blockDim.y) * 4;" in down
    assert "int row = row_first + item;" in down
    assert "int col = col_first + item * blockDim.x;" in across


def test_what_follows_from_the_number_is_computed_anew() -> None:
    text = edits(NEAREST)[0].source
    assert text.count("size_t row = tid * DIM;") == 2
    assert "float mean[4][DIM] = {};" in text
    assert "int i, j, index[4];" in text


@pytest.mark.parametrize(
    "body",
    [
        ID + "  float s = blockDim.x;\n" + LOOP + "  o[i] = s;\n",  # no test, needs its block
        ID + "  if (i >= n) return;\n  float s = 0;\n"
        "  for (int j = 0; j < m; j++) s += a[i * m + j];\n  o[i] = s;\n",  # nothing in common
        ID + "  if (i >= n) return;\n  float s = 0;\n"
        "  for (int j = 0; j < i; j++) s += a[j];\n  o[i] = s;\n",  # lengths of their own
        ID + "  if (i >= n) return;\n  float s = 0;\n"
        "  for (int j = 0; j < m; j++) { s += a[j]; if (s > 9) break; }\n  o[i] = s;\n",
        ID + "  if (i >= n) return;\n  for (int j = 0; j < m; j++) o[i] += a[j];\n",
        ID + "  if (i < 1 || i >= n) return;\n  float s = 0;\n" + LOOP + "  o[i] = s;\n",
        ID + "  if (i >= n) return;\n  float s = 0;\n" + LOOP + "  o[i] = s;\n  o[blockIdx.x] = 1;\n",
        ID + "  float v = a[i];\n  if (i >= n) return;\n  float s = v;\n" + LOOP + "  o[i] = s;\n",
        "  __shared__ float t[32];\n" + ID + "  t[threadIdx.x] = 1;\n  __syncthreads();\n"
        "  if (i >= n) return;\n  float s = t[0];\n" + LOOP + "  o[i] = s;\n",
        ID + "  if (i >= n) return;\n  float s = 0;\n" + LOOP
        + "  if (s > 1) { o[i] = s; s = 0; }\n  o[n + i] = s;\n",
    ],
)  # fmt: skip
def test_other_kernels_are_left_alone(body: str) -> None:
    assert not edits(HEAD + body + "}\n" + RUN)


@pytest.mark.skipif(not emulator.AVAILABLE, reason="no g++")
@pytest.mark.parametrize(
    ("text", "sizes"),
    [(FORCES, "{1, 1}, {33, 1}, {130, 1}"), (PRODUCT, "{1, 1}, {5, 19}, {18, 35}"),
     (NEAREST, "{1, 2}, {65, 5}, {300, 3}"), (EXACT, "{30, 2}")],
)  # fmt: skip
def test_results_are_the_same_for_sizes_that_nothing_divides(
    text: str, sizes: str, tmp_path: Path
) -> None:
    main = f"""
  int sizes[][2] = {{{sizes}}};
  for (auto& s : sizes) {{
    int n = s[0], d = s[1], all = 16 * n * (n + d);
    std::vector<float> a(all), b(all), c(all, -7.0f);
    for (int i = 0; i < all; i++) {{ a[i] = (i * 37) % 41 - 20; b[i] = (i * 29) % 31 - 15; }}
    run(a.data(), b.data(), c.data(), n, d);
    for (int i = 0; i < all; i++) printf("%g ", c[i]);
  }}"""
    before = emulator.run(text, main, tmp_path)
    found = edits(text)
    for edit in found[:1] + found[-2:-1]:
        assert not violations(text, edit.source)
        assert emulator.run(edit.source, main, tmp_path) == before
