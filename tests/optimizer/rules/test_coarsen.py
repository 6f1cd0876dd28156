"""Several outputs a thread."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel, Launch
from optimizer.rules.coarsen import coarsen
from optimizer.samples import SAMPLES
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

HEAD = "__global__ void k(const float *a, const float *b, float *o, int w, int n) {\n"
RUN = "void run(float *a, float *b, float *o, int w, int n) { k<<<(n + 63) / 64, 64>>>(a, b, o, w, n); }\n"
FLAT = HEAD + "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
EARLY = FLAT + "  if (i >= n) return;\n  float v = a[i];\n  o[i] = v * b[i % w];\n}\n" + RUN
INSIDE = (
    HEAD
    + "\tconst unsigned i = threadIdx.x + blockDim.x * blockIdx.x;\n\tif (i < n)\n\t\to[i] += a[i];\n}\n"
    + RUN
)
SQUARE = (
    HEAD
    + "  const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;\n"
    + "  if (x >= w || y >= n) return;\n"
    + "  o[y * w + x] = x > 0 ? a[y * w + x - 1] + b[y * w + x] : b[y * w + x];\n}\n"
    + "void run(float *a, float *b, float *o, int w, int n) {\n"
    + "  dim3 block(8, 8);\n  dim3 grid((w + 7) / 8, (n + 7) / 8);\n  k<<<grid, block>>>(a, b, o, w, n);\n}\n"
)
WIDE = (
    HEAD
    + "  size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;\n"
    + "  if (i < n) {\n    float s = 0;\n    for (int c = 0; c < 3; c++) s += a[i * 3 + c];\n    o[i] = s;\n  }\n}\n"
    + RUN
)

EXACT = (
    HEAD
    + "  int bx = blockIdx.x;\n  int tx = threadIdx.x;\n  int i = bx * 64 + tx;\n"
    + "  o[i] = a[i] * b[0] + a[i / 2];\n}\n"
    + "void run(float *a, float *b, float *o, int w, int n) { k<<<n / 64, 64>>>(a, b, o, w, n); }\n"
)
TILES = (
    HEAD
    + "  int x = threadIdx.x + blockIdx.x * blockDim.x;\n"
    + "  int y = threadIdx.y + blockIdx.y * blockDim.y;\n"
    + "  int was = a[y * w + x], now = a[y * w] + b[x];\n  if (now < was) o[y * w + x] = now;\n}\n"
    + "void run(float *a, float *b, float *o, int w, int n) {\n  dim3 t(16, 16);\n"
    + "  k<<<dim3(w / t.x, n / w / t.y), t>>>(a, b, o, w, n);\n}\n"
)


def edits(text: str) -> list[Edit]:
    return list(coarsen(Kernel("run", text, "k.cu"), []))


class TestCoarsen(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(
        Kernel("run", text, "k.cu") for text in (EARLY, INSIDE, SQUARE, WIDE, EXACT, TILES)
    )
    samples: ClassVar[tuple[Kernel, ...]] = SAMPLES

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return coarsen


def test_operands_are_read_ahead_for_all_outputs() -> None:
    text = edits(EARLY)[0].source
    assert "int i = (blockIdx.x * 4 + item) * blockDim.x + threadIdx.x;" in text
    assert "b_items[item] = b[i % w];" in text
    assert "o[i] = v * b_items[item];" in text
    assert "if (i >= n) continue;" in text
    assert "k<<<((n + 63) / 64 + 3) / 4, 64>>>" in text


def test_a_square_grid_gives_its_rows_to_threads() -> None:
    text = edits(SQUARE)[0].source
    assert "y = (blockIdx.y * 4 + item) * 8 + threadIdx.y;" in text
    assert "a_items" not in text  # read under a test only
    assert "dim3 grid((w + 7) / 8, ((n + 7) / 8 + 3) / 4);" in text


def test_exact_blocks_keep_their_outputs_and_shrink() -> None:
    text = edits(EXACT)[0].source
    assert "int i = bx * 64 + (tx + item * blockDim.x);" in text
    assert "k<<<n / 64, 16>>>" not in text  # less than a warp
    assert "k<<<n / 64, 32>>>" in text
    text = edits(TILES)[0].source
    assert "int y = (threadIdx.y + item * blockDim.y) + blockIdx.y * (blockDim.y * 4);" in text
    assert "dim3(w / t.x, n / w / t.y), dim3(t.x, t.y / 4)" in text


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
@pytest.mark.parametrize("text", [EXACT, TILES])
def test_shrunken_blocks_write_the_same(text: str, tmp_path: Path) -> None:
    main = """
    int w = 32, n = 1024;
    std::vector<float> a(n), b(n), o(n);
    for (int i = 0; i < n; ++i) a[i] = i % 17, b[i] = i % 5 + 1, o[i] = i;
    run(a.data(), b.data(), o.data(), w, n);
    for (float v : o) printf("%g ", v);"""
    wanted = emulator.run(text, main, tmp_path)
    assert emulator.run(edits(text)[0].source, main, tmp_path) == wanted


def test_a_copied_dim3_is_divided_by_its_extent() -> None:
    run = "void run(float *a, float *b, float *o, int w, int n) {\n  dim3 g((n + 63) / 64);\n  k<<<dim3(g), 64>>>(a, b, o, w, n);\n}\n"
    assert "dim3 g(((n + 63) / 64 + 3) / 4);" in edits(EARLY.replace(RUN, run))[0].source


def test_a_fixed_launch_of_a_workload_is_left_alone() -> None:
    text = EARLY.removesuffix(RUN)
    fixed = Launch(("(n+63)/64",), ("64",))
    assert not list(coarsen(Kernel("k", text, "k.cu", fixed), []))
    free = Launch(fixed.grid, fixed.block, tunable=True)
    assert next(iter(coarsen(Kernel("k", text, "k.cu", free), []))).launch is not None


@pytest.mark.parametrize(
    "text",
    [
        FLAT + "  o[i] = a[i] + blockDim.x;\n}\n" + RUN,  # no test, and blocks cannot shrink
        HEAD + "  float v;\n  v = b[0];\n" + FLAT.removeprefix(HEAD)
        + "  if (i < n) { v += a[i]; o[i] = v; }\n}\n" + RUN,  # set before, changed by each output
        FLAT + "  if (i < n) { o[i] = a[i]; o[n + blockIdx.x] = 1; }\n}\n" + RUN,
        FLAT + "  for (; i < n; i += blockDim.x * gridDim.x) o[i] = a[i];\n}\n" + RUN,
        FLAT + "  if (i < n) { o[i] = 0; for (int j = 0; j < w; j++) o[i] += a[j]; }\n}\n" + RUN,
        FLAT + "  __shared__ float t[64];\n  if (i < n) o[i] = t[0];\n}\n" + RUN,
        FLAT + "  if (i < n) for (int c = 0; c < 3; c++) { if (a[c] < 0) return; o[i] = a[i]; }\n}\n" + RUN,
        FLAT + "  if (i < n) o[i] = __shfl_xor_sync(~0u, a[i], 1);\n}\n" + RUN,
    ],
)  # fmt: skip
def test_threads_that_are_not_their_own_masters_are_left_alone(text: str) -> None:
    assert edits(text) == []


def test_an_operand_that_was_written_before_is_not_read_ahead() -> None:
    found = edits(FLAT + "  if (i < n) {\n    o[i] = a[i];\n    o[i] = o[i] * 2;\n  }\n}\n" + RUN)
    assert "o_items" not in found[0].source
    assert "a_items" in found[0].source


def test_a_number_that_starts_at_one_starts_there_for_each_output() -> None:
    text = edits(INSIDE.replace("blockIdx.x;", "blockIdx.x + 1;"))[0].source
    number = "threadIdx.x + blockDim.x * (blockIdx.x * 4 + item) + 1;"
    assert text.count(f"const unsigned i = {number}") == 2


PLANE_OF_BLOCKS = """\
dim3 shape(int n) {
  int k = (n - 1) / 64 + 1, x = k > 65535 ? 65535 : k;
  return dim3(x, (k - 1) / x + 1);
}
__global__ void twice(const float *a, float *o, int n) {
  int i = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x;
  if (i < n) o[i] += a[i] * 2.0f;
}
void run(const float *a, float *o, int n) {
  twice<<<shape(n), 64>>>(a, o, n);
}
"""


def test_a_plane_of_blocks_that_is_numbered_in_a_row_gets_shorter_rows() -> None:
    text = edits(PLANE_OF_BLOCKS)[0].source
    assert "twice<<<dim3((shape(n).x + 3) / 4, shape(n).y, shape(n).z), 64>>>" in text
    row = "(blockIdx.x + blockIdx.y * gridDim.x)"
    assert text.count(f"int i = ({row} * 4 + item) * blockDim.x + threadIdx.x;") == 2
    other = PLANE_OF_BLOCKS.replace("a[i] * 2.0f", "a[i] * blockIdx.y")
    assert not edits(other)


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
@pytest.mark.parametrize("text", [EARLY, INSIDE, SQUARE, WIDE])
def test_results_stay_the_same_for_odd_sizes(text: str, tmp_path: Path) -> None:
    main = """
    for (int n : {1, 63, 257, 300}) {
      int w = 5;
      std::vector<float> a(n * w), b(n * w), o(n * w);
      for (int i = 0; i < n * w; ++i) a[i] = i % 17, b[i] = i % 5 + 1, o[i] = i;
      run(a.data(), b.data(), o.data(), w, n);
      for (float v : o) printf("%g ", v);
    }"""
    wanted = emulator.run(text, main, tmp_path)
    for edit in edits(text)[:2]:
        assert emulator.run(edit.source, main, tmp_path) == wanted


STENCIL = (
    HEAD
    + "  const int x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;\n"
    + "  if (x >= 1 && y >= 1 && x < w - 1 && y < n - 1) {\n    int at = y * w + x;\n"
    + "    int up = at - w;\n"
    + "    o[at] = a[up] + a[at + w] + a[at - 1] + a[at + 1] - 4 * a[at];\n  }\n}\n"
    + SQUARE[SQUARE.index("void run") :]
)


def test_neighbours_that_read_the_same_rows_go_to_one_thread() -> None:
    found = edits(STENCIL)
    assert "4 neighbours along y" in found[0].title
    assert "y = (blockIdx.y * 8 + threadIdx.y) * 4 + item;" in found[0].source
    assert "a_items[item] = a[((y * w + x) - w)];" in found[0].source
    assert "whole = whole && " in found[0].source


@pytest.mark.parametrize(
    "text",
    [
        STENCIL.replace("a[up]", "a[at]").replace("a[at + w]", "a[at]"),  # no rows in common
        STENCIL.replace("int up = at - w;", "int up = at - w; up += 0;").replace(
            "a[at + w]", "a[x]"
        ),
        STENCIL.replace("4 * a[at]", "threadIdx.y * a[at]"),  # knows its thread otherwise, too
    ],
)
def test_outputs_with_nothing_in_common_stay_a_block_apart(text: str) -> None:
    assert not [e for e in edits(text) if "neighbours" in e.title]


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
def test_neighbours_write_the_same_on_small_and_odd_planes(tmp_path: Path) -> None:
    main = """
    for (int n : {1, 2, 3, 9, 30}) for (int w : {1, 2, 13}) {
      std::vector<float> a(n * w), b(n * w), o(n * w);
      for (int i = 0; i < n * w; ++i) a[i] = i % 17, o[i] = i;
      run(a.data(), b.data(), o.data(), w, n);
      for (float v : o) printf("%g ", v);
    }"""
    wanted = emulator.run(STENCIL, main, tmp_path)
    for edit in edits(STENCIL)[:4]:
        assert emulator.run(edit.source, main, tmp_path) == wanted
