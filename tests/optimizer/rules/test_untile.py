"""Products that stage tiles, written plainly."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.boundary import violations
from optimizer.model import Edit, Kernel
from optimizer.rules.tile_matmul import tile_matmul
from optimizer.rules.untile import untiled
from optimizer.source import Source
from tests.optimizer.rules import emulator

EXACT = """#define TW 8
__global__ void mm(const float *a, const float *b, float *c, int m, int n, int w)
{
    __shared__ float ta[TW][TW];
    __shared__ float tb[TW][TW];
    int bx = blockIdx.x; int by = blockIdx.y;
    int tx = threadIdx.x; int ty = threadIdx.y;
    int row = by * TW + ty;
    int col = bx * TW + tx;
    float sum = 0;
    for (int t = 0; t < w / TW; ++t) {
        ta[ty][tx] = a[row * w + t * TW + tx];
        tb[ty][tx] = b[(t * TW + ty) * w + col]; // second operand
        __syncthreads();
        for (int k = 0; k < TW; ++k)
            sum += ta[ty][k] * tb[k][tx];
        __syncthreads();
    }
    c[row * w + col] = sum;
}
void run(float *a, float *b, float *c, int m, int n, int w) {
    dim3 block(TW, TW), grid(w / TW, w / TW);
    mm<<<grid, block>>>(a, b, c, m, n, w);
}
"""
TESTED = """const int T = 8;
__global__ void mm(const float *a, const float *b, float *c, int m, int n, int w) {
  __shared__ float ta[T][T], tb[T][T];
  const int row = blockIdx.y * T + threadIdx.y;
  const int col = blockIdx.x * T + threadIdx.x;
  float sum = 0.0f;
  for (int p = 0; p < (w + T - 1) / T; p++) {
    if (row < m && p * T + threadIdx.x < w)
      ta[threadIdx.y][threadIdx.x] = a[row * w + p * T + threadIdx.x];
    else
      ta[threadIdx.y][threadIdx.x] = 0.0f;
    tb[threadIdx.y][threadIdx.x] = col < n && p * T + threadIdx.y < w ? b[(p * T + threadIdx.y) * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < T; i++) sum += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n)
    c[row * n + col] = sum;
}
void run(float *a, float *b, float *c, int m, int n, int w) {
  mm<<<dim3((n + T - 1) / T, (m + T - 1) / T), dim3(T, T)>>>(a, b, c, m, n, w);
}
"""


def plain(text: str) -> str | None:
    source = Source(text)
    return untiled(source, source.kernels[0])


def edits(text: str) -> list[Edit]:
    return list(tile_matmul(Kernel("k", text, "k.cu"), []))


def test_tiles_that_divide_become_one_sum_over_what_they_held() -> None:
    text = plain(EXACT)
    assert text is not None
    assert "for (int k = 0; k < w / TW * TW; ++k) sum += a[row * w + k] * b[k * w + col];" in text
    assert "__shared__" not in text
    assert text.endswith(EXACT[EXACT.index("    c[row") :])


def test_tests_of_loads_become_the_test_of_the_result() -> None:
    text = plain(TESTED)
    assert text is not None
    assert "if (row < m && col < n) {" in text
    assert "for (int i = 0; i < w; ++i) sum += a[row * w + i] * b[i * n + col];" in text


@pytest.mark.parametrize("text", [EXACT, TESTED])
def test_they_get_larger_tiles_and_stay_inside_the_boundary(text: str) -> None:
    found = edits(text)
    assert found
    assert all(not violations(text, e.source) for e in found)
    assert not edits(found[0].source)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("t * TW + tx]", "tx]"),  # the same tile over and over
        ("(t * TW + ty) * w", "(t * TW + ty) * m + t"),
        ("ta[ty][tx] =", "ta[tx][ty] ="),
        ("tb[k][tx]", "tb[tx][k]"),
        ("tb[TW][TW]", "tb[TW][2 * TW]"),
        ("k < TW", "k < TW / 2"),
        ("sum += ta", "sum -= ta"),
        ("t < w / TW", "t < w / 4"),
        ("t < w / TW", "t < m"),
        ("int t = 0", "int t = 1"),
        ("ta[ty][tx] = a", "ta[ty][tx] += a"),
        ("        __syncthreads();\n    }", "        __syncthreads();\n        sum *= 2;\n    }"),
        ("ta[ty][k] * tb", "ta[ty][k] * ta"),
    ],
)
def test_what_is_no_product_of_tiles_is_left_alone(old: str, new: str) -> None:
    text = EXACT.replace(old, new)
    assert text != EXACT
    assert plain(text) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("if (row < m && col < n)", "if (row < m)"),
        ("threadIdx.x < w)", "threadIdx.x < n)"),
        ("(w + T - 1) / T", "w / T"),
        ("ta[threadIdx.y][threadIdx.x] = 0.0f", "ta[threadIdx.y][threadIdx.x] = 1.0f"),
        ("p * T + threadIdx.y < w ?", "p + threadIdx.y < w ?"),
    ],
)
def test_tests_that_do_not_fit_are_left_alone(old: str, new: str) -> None:
    text = TESTED.replace(old, new)
    assert text != TESTED
    assert plain(text) is None


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
@pytest.mark.parametrize("text", [EXACT, TESTED])
def test_products_stay_the_same(text: str, tmp_path: Path) -> None:
    sizes = "{16, 16, 16}, {40, 40, 40}" if text == EXACT else "{1, 1, 1}, {17, 9, 21}, {40, 33, 8}"
    main = f"""
    for (std::vector<int> s : std::vector<std::vector<int>>{{ {sizes} }}) {{
      int m = s[0], n = s[1], w = s[2];
      std::vector<float> a(m * w), b(w * n), c(m * n);
      for (int i = 0; i < m * w; ++i) a[i] = i % 7;
      for (int i = 0; i < w * n; ++i) b[i] = i % 5;
      run(a.data(), b.data(), c.data(), m, n, w);
      for (float v : c) printf("%g ", v);
    }}"""
    wanted = emulator.run(text, main, tmp_path)
    assert edits(text)
    for edit in edits(text)[:2]:
        assert emulator.run(edit.source, main, tmp_path) == wanted
