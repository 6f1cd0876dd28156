"""Loops that add up in several variables."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.boundary import violations
from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.ilp import ilp
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

# One loop a kernel, each written otherwise: counted up and down, by strides, over a row of a
# sparse matrix, from where another has ended; sums, differences, products and extremes.
SHAPES = """\
#define RADIUS 5
#define LAST n - 1
typedef float real;
__global__ void dots(const float *a, const float* __restrict__ b, float *o, int m, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float dot = o[i], most = -1.0f;   // two of them
    int j;
    for (j = 0; j < m; j++) {
        float v = a[i + j] * b[j];
        if (j == i) continue;   /* not itself */
        dot += v;
        most = fmaxf(most, v);
    }
    o[i] = dot + most + j;
}
__global__ void down(const int *a, const int *b, int *o, int m, int n) {
\tint i = blockIdx.x * blockDim.x + threadIdx.x;
\tif (i < n) {
\t\tint least = 1000, bits = 7;
\t\tfor (int j = LAST; j >= 0; --j)
\t\t\tleast = a[j] < least ? a[j] : least;
\t\tfor (int j = m; j > -3; j -= 2) { bits = bits * (a[abs(j)] | 1); }
\t\to[i] = least + bits;
\t}
}
__global__ void strided(const real *a, const real *b, real *o, size_t m, unsigned n) {
  __shared__ real part[64];
  real sum = 0, t;
  for (unsigned int i = threadIdx.x + n % 3; i < m; i += blockDim.x)
    {
      t = a[i];
      sum -= t * b[i % 16];
    }
  size_t k = threadIdx.x;
  while (k <= m) {
    sum += a[k];
    if (a[k] > 3) sum += 2;
    k += blockDim.x * 2;
  }
  part[threadIdx.x] = sum + k;
  __syncthreads();
  o[blockIdx.x * blockDim.x + threadIdx.x] = part[threadIdx.x ^ 1];
}
__global__ void rows(const int *start, const float *v, float *o, int m, int n) {
  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < n; row += gridDim.x * blockDim.x) {
    double total = 0.0;
    #pragma unroll 2
    for (int j = start[row]; j < start[row + 1]; ++j) total += v[j] * 2;
    float blur = 0, p = 1;
    for (int k = -RADIUS; k <= RADIUS; k++)
      if (row + k >= 0 && row + k < n)
        for (int c = 0; c < 2; c++) blur += v[(row + k) % 4 + c];
    const float *at = v;
    for (int k = 0; k != m; k++) p *= 1;
    for (int k = 1; m >= k; k++) p = p + *at++;
    o[row] = total + blur + p;
  }
}
void run(const float *a, const float *b, const int *s, float *o, int *w, int m, int n) {
  dots<<<2, 16>>>(a, b, o, m, n);
  down<<<2, 16>>>(s, s, w, m, n);
  strided<<<1, 8>>>(a, b, o + 32, m, n);
  rows<<<2, 8>>>(s, a, o + 48, m, n);
}
"""
HEAD = "__global__ void k(const float *a, float *o, int m, int n, float lim) {\n  float s = 0;\n"
TAIL = "  o[threadIdx.x] = s;\n}\n"


def edits(text: str) -> list[Edit]:
    return list(ilp(Kernel("run", text, "k.cu"), []))


def everywhere(text: str, ways: int) -> tuple[str, int]:
    """Return a text with all its loops edited, one after the other, and their number."""
    for count in range(20):
        found = [e for e in edits(text) if e.title.startswith(f"keep {ways} ")]
        if not found:
            return text, count
        assert not violations(text, found[0].source)
        text = found[0].source
    pytest.fail("never comes to rest")


class TestIlp(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = (Kernel("run", SHAPES, "k.cu"),)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return ilp


def test_the_rest_of_iterations_is_left_to_the_loop_as_it_was() -> None:
    text = edits(SHAPES)[0].source
    assert "for (; m - j_next >= kIlp; j_next += kIlp) {" in text
    assert "const int j = j_next + ilp;" in text
    assert "most_ilp[ilp] = fmaxf(most_ilp[ilp], v);" in text
    assert "for (j = j_next; j < m; j++) {" in text
    assert "most = fmaxf(most, most_ilp[ilp]);" in text


def test_unsigned_distances_are_taken_only_where_they_are_not_negative() -> None:
    text, _ = everywhere(SHAPES, 4)
    assert "; i_next < m && (m - i_next) / kIlp" in text
    assert "; k_next <= m && (m - k_next) / kIlp" in text


def test_a_bound_that_is_a_formula_keeps_its_value() -> None:
    loop = "  for (int j = 0; j < W; j++) s += a[j];\n"
    assert "(W) - j_next" in edits("#define W 100 >> 1\n" + HEAD + loop + TAIL)[0].source


@pytest.mark.parametrize(
    "loop",
    [
        "  for (int j = 0; j < m; j++) { s += a[j]; if (s > lim) break; }\n",
        "  for (int j = 0; j < m; j++) s = s * 0.5f + a[j];\n",  # not associative
        "  for (int j = 0; j < m; j++) { s += a[j]; o[j] = s; }\n",  # all sums are wanted
        "  for (int j = 0; j < m; j++) { s += a[j]; o[j] = 1; }\n",  # stores hold loads back
        "  for (int j = 0; j < m; j++) { lim = lim * 3 + 1; s += lim; }\n",  # waits for `lim`
        "  for (int j = 0; j < m; j++) { s += a[j]; if (a[j] > 2) j++; }\n",
        "  for (int j = 0; j < m; j++) { s += a[j]; __syncthreads(); }\n",
        "  for (int j = 0; j < m; j++) for (int i = 0; i < n; i++) { s += a[j]; o[i] = s; }\n",
        "  for (int j = 0; j != m; j++) s += a[j];\n",  # may step over its end
        "  for (unsigned j = m; j >= 1; j--) s += a[j];\n",
        "  for (unsigned char j = 0; j < m; j++) s += a[j];\n",
        "  for (int j = 0; j < lim; j++) s += a[j];\n",
        "  for (int j = m; j < n; j -= n) s += a[j];\n",
        "  for (int j = 0; j < 8; j++) s += a[j];\n",  # the compiler writes it out
        "  int j = 0;\n  for (; j + 1 < m; j += 2) o[j] = 1;  for (; j < m; j++) s += a[j];\n",  # the rest of another loop
        "  int j = 0;\n  while (j < m) { s += a[j]; if (a[j] > 1) continue; j++; }\n",
        "  float best = 0;\n  for (int j = 0; j < m; j++) if (a[j] > best) { best = a[j]; s = j; }\n",
        "  for (int j = 0; j < m; j++) { s += UNKNOWN(a[j]); }\n",
        "  volatile float v = 0;\n  for (int j = 0; j < m; j++) v += a[j];\n  s = v;\n",
        "  float &r = s;\n  for (int j = 0; j < m; j++) r += a[j];\n",
    ],
)
def test_other_loops_are_left_alone(loop: str) -> None:
    assert not edits(HEAD + loop + TAIL)


@pytest.mark.skipif(not emulator.AVAILABLE, reason="no g++")
def test_results_are_the_same_for_every_length_of_the_rest(tmp_path: Path) -> None:
    edited, count = everywhere(SHAPES, 4)
    assert count == 8
    both = f"namespace v0 {{\n{SHAPES}}}\nnamespace v1 {{\n{edited}}}\n"
    main = r"""
  void (*all[])(const float*, const float*, const int*, float*, int*, int, int) = {v0::run, v1::run};
  for (int m = 0; m < 40; m += m < 10 ? 1 : 14) for (int n = 3; n < 32; n += 28) {
    std::vector<float> a(200), b(200), o[2]; std::vector<int> s(200), w[2];
    for (int i = 0; i < 200; i++) { a[i] = (i * 37) % 11 - 5; b[i] = (i * 29) % 7 - 3; s[i] = i * 3 - i % 4; }
    for (int i = 0; i < n; i++) s[i + 1] = s[i] + i % 7;
    for (int v = 0; v < 2; v++) {
      o[v].assign(96, 2); w[v].assign(32, -1);
      all[v](a.data(), b.data(), s.data(), o[v].data(), w[v].data(), m, n);
    }
    printf("%d%d%d ", o[0] == o[1], w[0] == w[1], o[0] != std::vector<float>(96, 2));
  }"""
    assert set(emulator.run(both, main, tmp_path).split()) == {"111"}
