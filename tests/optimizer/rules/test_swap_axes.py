"""Threads numbered along the other axis."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel, Launch
from optimizer.rules.swap_axes import swap_axes
from optimizer.samples import SAMPLES
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

HEAD = "__global__ void add(const float *a, const float *b, float *c, int rows, int cols) {\n"
ROWS = (
    HEAD
    + "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n"
    + "  int col = blockIdx.y * blockDim.y + threadIdx.y;\n"
    + "  if (row < rows && col < cols)\n"
    + "    c[row * cols + col] = a[row * cols + col] + b[row * cols + col]; // odd sizes, too\n}\n"
)
NAMED = ROWS + (
    "void run(float *a, float *b, float *c, int rows, int cols) {\n"
    "  dim3 threads(8, 8);\n  dim3 grid((rows + 7) / 8, (cols + 7) / 8);\n"
    "  add<<<grid, threads>>>(a, b, c, rows, cols);\n}\n"
)
WRITTEN = ROWS + (
    "void run(float *a, float *b, float *c, int rows, int cols) {\n"
    "  add<<<dim3((rows + 15) / 16, (cols + 3) / 4), dim3(16, 4)>>>(a, b, c, rows, cols);\n}\n"
)
INLINE = (
    HEAD
    + "\tif (threadIdx.x + blockIdx.x * blockDim.x >= rows) return;\n"
    + "\tif (threadIdx.y + blockIdx.y * blockDim.y >= cols) return;\n"
    + "\tint at = cols * (blockIdx.x * blockDim.x + threadIdx.x) + blockIdx.y * blockDim.y + threadIdx.y;\n"
    + "\tc[at] -= a[at] * b[cols - 1];\n}\n"
    + "#define B 16\nvoid run(float *a, float *b, float *c, int rows, int cols) {\n"
    + "\tdim3 block(B, B);\n\tint g = (max(rows, cols) + B - 1) / B;\n\tadd<<<dim3(g, g), block>>>(a, b, c, rows, cols);\n}\n"
)
LOOP = (
    HEAD
    + "  unsigned i = threadIdx.x + blockDim.x * blockIdx.x, j = threadIdx.y + blockDim.y * blockIdx.y;\n"
    + "  float s = 0;\n  if (i >= rows || j >= cols) return;\n"
    + "  for (int k = 0; k < cols; k++) s += a[i * cols + k] * b[k * cols + j];\n  c[i * cols + j] = s;\n}\n"
    + NAMED[len(ROWS) :]
)


def edits(text: str, launch: Launch | None = None) -> list[Edit]:
    return list(swap_axes(Kernel("add", text, "k.cu", launch), []))


class TestSwapAxes(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(
        Kernel("run", text, "k.cu") for text in (NAMED, WRITTEN, INLINE, LOOP)
    )
    samples: ClassVar[tuple[Kernel, ...]] = SAMPLES

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return swap_axes


def test_kernel_and_launch_are_turned_together() -> None:
    text = edits(NAMED)[0].source
    assert "int row = blockIdx.y * blockDim.y + threadIdx.y;" in text
    assert "int col = blockIdx.x * blockDim.x + threadIdx.x;" in text
    assert "add<<<dim3(grid.y, grid.x), threads>>>" in text
    assert (
        "add<<<dim3((cols + 3) / 4, (rows + 15) / 16), dim3(4, 16)>>>" in edits(WRITTEN)[0].source
    )


def test_a_workloads_launch_turns_where_it_may() -> None:
    fixed = Launch(("(rows + 15) / 16", "(cols + 15) / 16"), ("16", "16"))
    assert edits(ROWS, fixed) == []
    free = Launch(fixed.grid, fixed.block, tunable=True)
    launch = edits(ROWS, free)[0].launch
    assert launch is not None
    assert launch.grid == ("(cols + 15) / 16", "(rows + 15) / 16")


@pytest.mark.parametrize(
    "text",
    [
        NAMED.replace("row = blockIdx.x * blockDim.x + threadIdx.x", "row = blockIdx.y * blockDim.y + threadIdx.y", 1)
        .replace("int col = blockIdx.y * blockDim.y + threadIdx.y", "int col = blockIdx.x * blockDim.x + threadIdx.x"),
        NAMED.replace("c[row * cols + col] =", "c[row * cols + col] = __shfl_xor_sync(~0u, a[0], 1) +"),
        NAMED.replace("c[row * cols + col] =", "c[col * rows + row] ="). replace("b[row * cols + col]", "b[col * rows + row]"),
        NAMED.replace("  if (row", "  volatile float seen = 0;\n  if (row"),
        NAMED.replace("add<<<grid, threads>>>(a, b, c, rows, cols);", "void *f = (void *)add; add<<<grid, threads>>>(a, b, c, rows, cols);"),
        NAMED.replace("dim3 grid(", "dim3 grid(70000, "). replace("(rows + 7) / 8, (cols", "(cols"),
        NAMED.replace("  int row", "  dim3 t = threadIdx;\n  int row"),
        ROWS,
    ],
)  # fmt: skip
def test_what_gains_nothing_or_is_not_understood_is_left_alone(text: str) -> None:
    assert edits(text) == []


@given(st.text("abc/*+ \t", max_size=20))
def test_comments_and_other_code_stay_as_they_are(noise: str) -> None:
    mark = noise.replace("/", "").replace("*", "")
    text = f"// {mark}\nint other(int x) {{ return x; }} // {mark}\n{NAMED}/* {mark} */\n"
    found = edits(text)
    assert len(found) == 1
    head, _, tail = text.partition("  int row")
    assert found[0].source.startswith(head)
    assert found[0].source.endswith(tail[tail.index(">>>") :])


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
@pytest.mark.parametrize("text", [NAMED, WRITTEN, INLINE])
def test_results_stay_the_same_for_odd_shapes(text: str, tmp_path: Path) -> None:
    main = """
    for (int rows : {1, 17, 40}) {
      int cols = 23, n = rows * cols;
      std::vector<float> a(n), b(n), c(n);
      for (int i = 0; i < n; ++i) a[i] = i % 17, b[i] = i % 5 + 1, c[i] = i;
      run(a.data(), b.data(), c.data(), rows, cols);
      for (float v : c) printf("%g ", v);
    }"""
    wanted = emulator.run(text, main, tmp_path)
    assert emulator.run(edits(text)[0].source, main, tmp_path) == wanted
