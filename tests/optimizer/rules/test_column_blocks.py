"""Columns shared by the warps of a block."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel, Launch
from optimizer.rules.column_blocks import column_blocks
from optimizer.samples import SAMPLES
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

HEAD = "__global__ void k(const float *a, const float *b, float *o, int m, int n) {\n"
RUN = "void run(float *a, float *b, float *o, int m, int n) { k<<<(n + 63) / 64, 64>>>(a, b, o, m, n); }\n"
AROUND = (
    HEAD
    + "  int j = blockIdx.x * blockDim.x + threadIdx.x;\n  if (j < n)\n  {\n    // downwards\n"
    + "    float acc = 0.0f;\n    int i;\n    for (i = 0; i < m; i++)\n      acc += a[i * n + j] * b[i];\n"
    + "    o[j] = acc / m;\n  }\n}\n"
    + RUN
)
EARLY = (
    HEAD
    + "\tunsigned int j = threadIdx.x + blockIdx.x * blockDim.x;\n\tif (j >= n) return;\n"
    + "\tfloat s = b[0], top = a[j];\n\tfor (int i = 1; i < m; ++i) {\n\t\tfloat v = a[i * n + j];\n"
    + "\t\ts += v;\n\t\tif (v > top) top = v;\n\t}\n\to[2 * j] = s;\n\to[2 * j + 1] = top;\n}\n"
    + RUN
)
TWICE = (
    HEAD
    + "  const int j = blockIdx.x * 64 + threadIdx.x;\n  if (n > j) {\n    float mean = 0, var = 0;\n"
    + "    for (int i = 0; i < m; i++) mean += a[i * n + j];\n    mean /= m;\n"
    + "    for (int i = 0; i < m; i++) { float d = a[i * n + j] - mean; var += d * d; }\n"
    + "    o[j] = var;\n  }\n}\n"
    + RUN
)
EXACT = (
    "#define N 128\n"
    + HEAD
    + "  int j = blockIdx.x * blockDim.x + threadIdx.x;\n  float s = 0;\n"
    + "  for (int i = 0; i < m; i++) s += a[i * N + j];\n  o[j] = s;\n}\n"
    + "void run(float *a, float *b, float *o, int m, int n) {\n  dim3 t(32, 1), g(N / 32);\n  k<<<g, t>>>(a, b, o, m, n);\n}\n"
)


def edits(text: str, launch: Launch | None = None) -> list[Edit]:
    return list(column_blocks(Kernel("k", text, "k.cu", launch), []))


class TestColumnBlocks(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(
        Kernel("run", text, "k.cu") for text in (AROUND, EARLY, TWICE, EXACT)
    )
    samples: ClassVar[tuple[Kernel, ...]] = SAMPLES

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return column_blocks


def test_threads_beyond_the_last_column_stay_and_store_nothing() -> None:
    text = edits(AROUND)[0].source
    assert "int j = inside ? column : 0;" in text
    assert "  // downwards\n  float acc = 0.0f;" in text
    assert "for (i = part; i < m; i += 32)" in text
    assert "if (part == 0 && inside) o[j] = acc / m;" in text
    assert "k<<<(n + 63) / 64 * 2, 1024>>>" in text
    assert "return" not in edits(EARLY)[0].source


def test_a_sum_that_starts_at_something_starts_there_once() -> None:
    assert "if (part > 0) s = 0;" in edits(EARLY)[0].source


def test_a_workloads_launch_changes_where_it_may() -> None:
    bare = AROUND.removesuffix(RUN)
    assert edits(bare, Launch(("(n + 63) / 64",), ("64",))) == []
    launch = edits(bare, Launch(("(n + 63) / 64",), ("64",), tunable=True))[0].launch
    assert launch is not None
    assert (launch.grid, launch.block) == (("(n + 63) / 64 * 2",), ("1024",))


@pytest.mark.parametrize(
    "text",
    [
        AROUND.replace("a[i * n + j]", "a[j * m + i]"),  # a row
        AROUND.replace("64>>>", "48>>>"),
        AROUND.replace("acc += a", "acc = 0.5f * acc + a"),
        AROUND.replace("o[j] = acc / m;", "if (acc > 0) return; o[j] = acc / m;"),
        AROUND.replace("__global__ void", "__global__ void __launch_bounds__(64)"),
        AROUND.replace("b[i];", "b[i] + threadIdx.x;"),
        AROUND.replace("if (j < n)", "int last = n - 1;\n  if (j < last)"),  # not known before
        AROUND.replace("    for (i", "    if (b[j] > 0)\n    for (i"),
        AROUND.replace("    for (i", "    for (int z = 0; z < j; z++) {\n    acc = 0;\n    for (i").replace("o[j] = acc / m;", "o[j] += acc;\n    }"),
        AROUND.replace("k<<<", "cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, 0); k<<<"),
    ],
)  # fmt: skip
def test_other_kernels_are_left_alone(text: str) -> None:
    assert edits(text) == []


@given(st.text("abc {};\t", max_size=24))
def test_comments_and_neighbours_stay_as_they_are(noise: str) -> None:
    other = f"/* {noise} */\nint neighbour(int x) {{ return x; }} // {noise}\n"
    assert [e.source for e in edits(other + AROUND)] == [other + e.source for e in edits(AROUND)]


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
@pytest.mark.parametrize("text", [AROUND, EARLY, TWICE, EXACT])
def test_sums_stay_the_same_for_odd_sizes(text: str, tmp_path: Path) -> None:
    main = """
    for (int m : {1, 9, 40}) {
      int n = %s;
      std::vector<float> a(m * n), b(m), o(2 * n);
      for (int i = 0; i < m * n; ++i) a[i] = i %% 8;
      for (int i = 0; i < m; ++i) b[i] = i %% 4;
      run(a.data(), b.data(), o.data(), m, n);
      for (float v : o) printf("%%.4g ", v);
    }""" % ("128" if text == EXACT else "35")
    wanted = emulator.run(text, main, tmp_path)
    assert emulator.run(edits(text)[1].source, main, tmp_path) == wanted


def test_blocks_whose_size_only_the_program_knows_make_way() -> None:
    asked = AROUND.replace("<<<(n + 63) / 64, 64>>>", "<<<(n + t - 1) / t, t>>>").replace(
        "int n) { k<<<", "int n) { const int t = n < 256 ? n : 256; k<<<"
    )
    assert asked.count("t>>>") == 1
    edit, *_ = edits(asked)
    assert "k<<<(n + t - 1) / t * ((t + 31) / 32), 1024>>>" in edit.source
    assert not edits(asked.replace("blockIdx.x * blockDim.x", "blockIdx.x * 96"))
    assert not edits(asked.replace("if (j < n)", ""))
    assert not edits(asked.replace("t>>>", "dim3(t, t)>>>"))
    twice = asked.replace("256; k<<<", "256; k<<<n, 2 * t>>>(a, b, o, m, n); k<<<")
    assert twice != asked
    assert not edits(twice)
