"""Divisions in 32 bits of numbers that fit."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Kernel
from optimizer.rules.narrow_index import narrow_index
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

TAKEN_APART = """\
typedef long long index_t;
__global__ void early(const float *a, float *o, int n, int w, unsigned h) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  size_t x = i % w;            // column
  size_t y = (i / w) % h;
  o[i] = a[x * h + y] + (i / h) * w;
}
__global__ void around(const float *a, float *o, const int n, int w, unsigned h)
{
    index_t i = threadIdx.x + (long long)blockIdx.x * blockDim.x;
    if (i < n) {
        const int x = i % w;
        o[i] = o[i] * 2 + a[i / 4] + x + i / h;
    }
}
void run(const float *a, float *o, int n, int w, int h) {
  early<<<(n + 31) / 32, 32>>>(a, o, n, w, h);
  around<<<(n + 31) / 32, 32>>>(a, o, n, w, h);
}
"""
ID = "  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\n"


class TestNarrowIndex(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = (Kernel("run", TAKEN_APART, "k.cu"),)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return narrow_index


def test_a_grid_stride_loop_tests_the_number_too() -> None:
    loop = "(size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += 512)"
    text = f"__global__ void k(float *o, int n, int w) {{\n  for {loop} {{\n    o[i] = i % w;\n  }}\n}}\n"
    (edit,) = narrow_index(Kernel("k", text), [])
    assert "(unsigned int)i % w" in edit.source
    assert not list(narrow_index(Kernel("k", text.replace("int n", "size_t n")), []))
    assert not list(narrow_index(Kernel("k", text.replace("o[i]", "i++; o[i]")), []))


def test_only_the_division_itself_is_narrow() -> None:
    first, second = (e.source for e in narrow_index(Kernel("run", TAKEN_APART), []))
    assert "size_t x = (unsigned int)i % w;            // column" in first
    assert "((size_t)((unsigned int)i / w)) % h" in first
    assert "((size_t)((unsigned int)i / h)) * w" in first
    assert "const int x = (int)i % w;" in second
    assert "x + i / h;" in second, "an unsigned extent may be more than an int holds"


@pytest.mark.parametrize(
    ("arguments", "body"),
    [
        ("int n, int w", ID + "  o[i % w] = n;\n"),  # not tested
        ("int n, int w", ID + "  o[i % w] = n;\n  if (i >= n) return;\n"),  # tested too late
        ("size_t n, int w", ID + "  if (i < n) o[i % w] = 1;\n"),
        ("long n, int w", ID + "  if (i >= n) return;\n  o[i / w] = 1;\n"),
        ("unsigned n, int w", ID + "  if (i >= n) return;\n  o[i / w] = 1;\n"),
        ("int n, size_t w", ID + "  if (i >= n) return;\n  o[i / w] = 1;\n"),
        ("int n, int w", ID + "  if (i >= n) return;\n  o[i / ((size_t)w * n)] = 1;\n"),
        ("int n, int w", ID + "  if (n <= w || i >= n * 2L) return;\n  o[i / w] = 1;\n"),
        ("int n, int w", ID + "  if (i < 9) return;\n  o[i / w] = n;\n"),
        ("int n, int w", ID + "  if (i >= n) return;\n  i += n;\n  o[i / w] = 1;\n"),
    ],
)
def test_what_may_not_fit_is_left_alone(arguments: str, body: str) -> None:
    text = f"__global__ void k(float *o, {arguments}) {{\n{body}}}\n"
    assert not list(narrow_index(Kernel("k", text), []))


@pytest.mark.skipif(not emulator.AVAILABLE, reason="no g++")
def test_quotients_and_rests_stay_as_they_were(tmp_path: Path) -> None:
    text = TAKEN_APART
    for _ in range(2):
        text = next(iter(narrow_index(Kernel("run", text), []))).source
    assert not list(narrow_index(Kernel("run", text), []))
    main = r"""
  for (int n = 1; n < 200; n += 66) for (int w = 1; w < 9; w += 3) for (int h = 1; h < 4; h += 2) {
    std::vector<float> a(9 * 9 * n), one(n, 1), two(n, 1);
    for (size_t i = 0; i < a.size(); i++) a[i] = i % 97;
    before::run(a.data(), one.data(), n, w, h);
    after::run(a.data(), two.data(), n, w, h);
    printf("%d%d ", one == two, one != std::vector<float>(n, 1));
  }"""
    both = f"namespace before {{\n{TAKEN_APART}}}\nnamespace after {{\n{text}}}\n"
    assert set(emulator.run(both, main, tmp_path).split()) == {"11"}
