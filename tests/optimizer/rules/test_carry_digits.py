"""Coordinates that are carried on instead of divided for."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.boundary import violations
from optimizer.interfaces import RewriteRule
from optimizer.model import Kernel
from optimizer.rules.carry_digits import carry_digits
from optimizer.rules.vectorize import vectorize
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

PERMUTE = """\
__global__ void permute(const float* in, float* out, int a, int b, int c) {
  int id = blockIdx.x * blockDim.x + threadIdx.x;
  if (id >= a * b * c) return;
  const int k = id % c;
  const int j = (id / c) % b;
  const int i = id / (c * b);
  out[(k * b + j) * a + i] = in[id];
}
void run(const float* in, float* out, int a, int b, int c) {
  permute<<<(a * b * c + 63) / 64, 64>>>(in, out, a, b, c);
}
"""
POOL = """\
__global__ void pool(const float *in, float *out, const size_t n, int channels, int height, int width)
{
    size_t index = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    int half_w = width / 2, half_h = height / 2;
    if (index < n) {
        // coordinates of the output
        size_t rest = index / half_w;
        size_t x = index % half_w;
        size_t y = rest % half_h;
        size_t p = rest / half_h;
        float best = -1e30f;
        for (int dy = 0; dy < 2; dy++)
            for (int dx = 0; dx < 2; dx++)
                best = max(best, in[(p * height + 2 * y + dy) * width + 2 * x + dx]);
        out[index] = best + channels;
    }
}
void run(const float *in, float *out, int planes, int height, int width) {
    size_t n = (size_t)planes * (height / 2) * (width / 2);
    int blocks = (n + 31) / 32;
    pool<<<blocks, 32>>>(in, out, n, 3, height, width);
}
"""
_WIDE = "struct alignas(16) float4 { float x, y, z, w; };\n"
ID = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
TESTED = ID + "  if (i >= n) return;\n"
BODY = "  int x = i % w;\n  int y = i / w;\n  o[x * h + y] = a[i];\n"
HEAD = "__global__ void k(const float *a, float *o, int w, int h, int n) {\n"
LAUNCH = "void run(const float *a, float *o, int w, int h, int n) { k<<<(n + 31) / 32, 32>>>(a, o, w, h, n); }\n"


class TestCarryDigits(RewriteRuleContract):
    applies_to = (Kernel("permute", PERMUTE), Kernel("pool", POOL))

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return carry_digits


def edits(body: str) -> list[str]:
    return [e.source for e in carry_digits(Kernel("k", f"{HEAD}{body}}}\n{LAUNCH}"), [])]


@pytest.mark.parametrize(
    "number",
    [
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n",
        "  const unsigned int i = threadIdx.x + blockDim.x * blockIdx.x;\n  if (i >= n) { return; }\n",
        "  int i = threadIdx.x + blockIdx.x * 32;\n  if (i >= n) return;\n",
        "  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\n  if (n <= i) return;\n",
    ],
)
def test_it_fires_however_the_number_is_written(number: str) -> None:
    found = edits(number + BODY)
    assert len(found) == 3
    assert "x += x_step;" in found[0]
    assert "((n + 31) / 32 + 7) / 8" in found[0]


@pytest.mark.parametrize(
    "body",
    [
        ID + BODY,  # no test
        ID + BODY + "  if (i >= n) return;\n",
        ID + "  if (!(i < n)) return;\n" + BODY,  # one that is not understood
        TESTED + "  float v = a[i];\n" + BODY + "  o[i] = v;\n",  # used before its coordinates
        TESTED + BODY + "  if (y > 3) return;\n  o[i] = 2;\n",
        TESTED + BODY + "  o[blockIdx.x] = 2;\n",
        TESTED + "  int x = i % w;\n  o[x] = a[i];\n",
        TESTED + "  int x = i % w;\n  int y = i / h;\n  o[x * h + y] = a[i];\n",  # not its digits
        "  __shared__ float s[32];\n" + TESTED + BODY + "  s[0] = 1;\n",
    ],
)
def test_other_numbers_and_uses_of_blocks_are_left_alone(body: str) -> None:
    assert edits(body) == []


def _same(text: str, main: str, folder: Path) -> None:
    before = emulator.run(text, main, folder)
    found = list(carry_digits(Kernel("k", text), []))
    for edit in (found[0], found[-2]):
        assert not violations(text, edit.source)
        assert emulator.run(_WIDE + edit.source, main, folder) == before


def test_neighbours_come_first_where_outputs_lie_side_by_side() -> None:
    """Coordinates are divided for the first and counted on; what was on the way to them goes."""
    found = list(carry_digits(Kernel("pool", POOL), []))
    assert [e.title.partition(" per")[0] for e in found] == [
        f"compute {what}"
        for what in ("4 neighbours", "2 neighbours", "8 outputs", "4 outputs", "16 outputs")
    ]
    text = found[0].source
    assert "size_t x = first % half_w;" in text
    assert "size_t p = first / half_w / half_h;" in text
    assert "if (++x == half_w) {" in text
    assert "size_t rest" not in text
    assert "*reinterpret_cast<float4*>(&out[first]) =" in text
    assert "pool<<<(blocks + 3) / 4, 32>>>" in text
    assert "// coordinates of the output" in text
    assert not list(vectorize(Kernel("pool", POOL), [])), "these divide for each neighbour"
    assert "neighbours" not in next(iter(carry_digits(Kernel("permute", PERMUTE), []))).title


@pytest.mark.skipif(not emulator.AVAILABLE, reason="no g++")
def test_every_output_is_written_once_for_sizes_no_block_divides(tmp_path: Path) -> None:
    main = r"""
  for (int a = 1; a <= 4; a += 3) for (int b = 1; b <= 5; b += 4) for (int c = 1; c <= 40; c += 39) {
    int n = a * b * c; std::vector<float> in(n), out(n, -1);
    for (int i = 0; i < n; i++) in[i] = i;
    run(in.data(), out.data(), a, b, c);
    double s = 0; for (int i = 0; i < n; i++) s += out[i] * (i % 101);
    printf("%d %g\n", n, s);
  }"""
    _same(PERMUTE, main, tmp_path)


@pytest.mark.skipif(not emulator.AVAILABLE, reason="no g++")
def test_work_under_a_test_and_quotients_on_the_way_are_kept(tmp_path: Path) -> None:
    main = r"""
  for (int h = 2; h < 6; h += 3) for (int w = 2; w < 80; w += 75) {
    int n = 3 * h * w, m = 3 * (h / 2) * (w / 2); std::vector<float> in(n), out(m, -1);
    for (int i = 0; i < n; i++) in[i] = (i * 37) % 91;
    run(in.data(), out.data(), 3, h, w);
    double s = 0; for (int i = 0; i < m; i++) s += out[i] * (i % 17);
    printf("%d %g\n", m, s);
  }"""
    _same(POOL, main, tmp_path)
