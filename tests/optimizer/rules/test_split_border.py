"""Tests taken out of the inside of a domain."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.split_border import split_border
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

CLAMP = "__device__ int clampi(int v, int n) { return v < 0 ? 0 : v >= n ? n - 1 : v; }\n"
MIRROR = "__device__ int clampi(int v, int n) {\n  if (v < 0) return -v;\n  if (v > n - 1) return 2 * (n - 1) - v;\n  return v;\n}\n"
WRAP = "__device__ __forceinline__ int clampi(int v, const int n) { if (v < 0 || v >= n) v = (v + n) % n; return v; }\n"
HEAD = (
    "__global__ void k(const float *a, float *o, int w, int h, int r) {\n"
    "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "  if (x >= w || y >= h) return;\n  float s = 0.f;\n"
)
TAIL = (
    "  o[y * w + x] = s;\n}\n"
    "void run(float *a, float *o, int w, int h, int r) {\n"
    "  k<<<dim3((w + 7) / 8, (h + 7) / 8), dim3(8, 8)>>>(a, o, w, h, r);\n}\n"
)
LOOPS = "  for (int i = -r; i <= r; i++)\n    for (int j = -r; j <= r; ++j) {\n"
CALLED = (
    HEAD
    + LOOPS
    + "      s += a[clampi(y + i, h) * w + clampi(x + j, w)] * (i + 2 * j);\n    }\n"
    + TAIL
)
TESTED = (
    HEAD
    + LOOPS
    + "      int yy = y + i;\n      int xx = x + j;\n"
    + "      if (xx >= 0 && w > xx && yy >= 0 && yy <= h - 1) {\n        s += a[yy * w + xx];  // inside\n      }\n    }\n"
    + TAIL
)
SKIPPED = (
    HEAD
    + "  for (int t = 0; t < 2 * r; t++) {\n    const int p = x - r + t;\n"
    + "    if (p < 0 || p >= w) continue;\n    s = s * 0.5f + a[y * w + p];\n  }\n"
    + TAIL
)
MINMAX = (
    HEAD + "  for (int t = 0; t < r; t++) s += a[y * w + min(max(x + t - 2, 0), w - 1)];\n" + TAIL
)
STATEMENTS = (
    HEAD
    + "  for (int t = -r; t <= r; t++) {\n    int p = x + t;\n    if (p < 0) p = 0;\n"
    + "    else if (p >= w) p = w - 1;\n    int q = y - t;\n    q = max(q, 0);\n    q = min(h - 1, q);\n"
    + "    s += a[q * w + p];\n  }\n"
    + TAIL
)
SOME = (
    HEAD
    + "  for (int t = -r; t <= r; t++)\n    if (x + t >= 0 && x + t < w && a[x + t] > 1.f) s += a[y * w + x + t];\n"
    + TAIL
)
ALL = (
    CLAMP + CALLED, MIRROR + CALLED, WRAP + CALLED, TESTED, SKIPPED, MINMAX, STATEMENTS, SOME,
)  # fmt: skip


def edits(text: str) -> list[Edit]:
    return list(split_border(Kernel("run", text, "k.cu"), []))


class TestSplitBorder(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(Kernel("run", text, "k.cu") for text in ALL)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return split_border


def test_tests_of_both_loops_become_their_bounds() -> None:
    text = edits(TESTED)[0].source
    assert "for (int i = max(-r, -y); i <= min(r, h - y - 1); i++)" in text
    assert "for (int j = max(-r, -x); j <= min(r, w - x - 1); ++j) {" in text
    assert "      s += a[yy * w + xx];  // inside\n    }" in text


def test_an_early_continue_becomes_a_bound() -> None:
    text = edits(SKIPPED)[0].source
    assert "for (int t = max(0, r - x); t < min(2 * r, r + w - x); t++)" in text
    assert "continue" not in text


def test_a_test_of_data_stays() -> None:
    assert "if (a[x + t] > 1.f) s +=" in edits(SOME)[0].source


def test_the_interior_uses_indices_as_they_are() -> None:
    text = edits(CLAMP + CALLED)[0].source
    assert "if (y + r < h && y >= r && x + r < w && x >= r) {" in text
    assert "a[(y + i) * w + (x + j)]" in text


@pytest.mark.parametrize(
    "text",
    [
        TESTED.replace("int yy = y + i", "unsigned yy = y + i").replace("int xx", "unsigned xx"),
        TESTED.replace("s += a[yy * w + xx];  // inside\n      }", "s += a[yy * w + xx];\n      } else s += 1;"),
        TESTED.replace("x + j", "x * j").replace("y + i", "y * i"),
        TESTED.replace("    }\n  o", "      s *= 2;\n    }\n  o"),  # work beside the test
        SKIPPED.replace("for (int t = 0", "int t;\n  for (t = 0"),  # its end is seen outside
        SKIPPED.replace("const int p", "s += 1;\n    const int p"),
        CLAMP.replace("0 : v >=", "1 : v >=").replace("clampi(int v", "other(int v") + SKIPPED.replace("if (p < 0 || p >= w) continue;", ""),
        MIRROR.replace("return v;", "return v + 1;") + CALLED,
        MINMAX.replace("x + t - 2", "x * t"),
        STATEMENTS.replace("p = 0;", "p = 0, s += 1;").replace("q = max(q, 0);", "q = q + 1;"),
    ],
)  # fmt: skip
def test_what_is_no_stretch_of_the_loop_is_left_alone(text: str) -> None:
    assert edits(text) == []


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
@pytest.mark.parametrize("text", ALL)
def test_results_stay_the_same_at_every_border(text: str, tmp_path: Path) -> None:
    main = """
    for (int w : {4, 9, 19}) for (int h : {4, 11}) for (int r : {1, 2, 3}) {
      std::vector<float> a(w * h), o(w * h);
      for (int i = 0; i < w * h; ++i) a[i] = i % 7;
      run(a.data(), o.data(), w, h, r);
      for (float v : o) printf("%g ", v);
    }"""
    wanted = emulator.run(text, main, tmp_path)
    for edit in edits(text):
        assert emulator.run(edit.source, main, tmp_path) == wanted
