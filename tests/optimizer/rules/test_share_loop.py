"""Loops of one thread, or of all alike, shared among the threads of a block."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel, Launch
from optimizer.rules.share_loop import share_loop
from optimizer.samples import SAMPLES
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

HEAD = "__global__ void k(const float *a, float *o, int rows, int n) {\n"
RUN = "void run(const float *a, float *o, int rows, int n) { k<<<rows, 64>>>(a, o, rows, n); }\n"
NORM = (
    HEAD
    + "  int row = blockIdx.x;\n  // the first thread adds up\n  if (threadIdx.x == 0) {\n    float s = 0.0f;\n"
    + "    for (int j = 0; j < n; ++j) {\n      float v = a[row * n + j];\n      s += v * v;\n    }\n"
    + "    o[row] = sqrtf(s); // rest\n  }\n}\n"
    + RUN
)
LATER = (
    HEAD
    + "\tconst unsigned t = threadIdx.x;\n\tif (blockIdx.x >= rows) return;\n\tfloat m = a[0];\n\t__shared__ float top;\n"
    + "\tif (!t)\n\t\tfor (int j = 0; j < n; j++) m = fmaxf(m, a[blockIdx.x * n + j]);\n"
    + "\tif (!t) top = m;\n\t__syncthreads();\n"
    + "\tfor (int j = t; j < n; j += blockDim.x) o[blockIdx.x * n + j] = a[blockIdx.x * n + j] - top;\n}\n"
    + RUN
)
TWICE = (
    HEAD
    + "  if (threadIdx.x > 0) return;\n  float mean = 0, var = 0;\n"
    + "  for (int j = 0; j < n; j++) mean += a[blockIdx.x * n + j];\n  mean /= n;\n"
    + "  for (int j = 0; j < n; j++) {\n    float d = a[blockIdx.x * n + j] - mean;\n    var += d * d;\n  }\n"
    + "  o[2 * blockIdx.x] = mean;\n  o[2 * blockIdx.x + 1] = var / n;\n}\n"
    + RUN
)
ALIKE = (
    HEAD
    + "  int i = blockIdx.x;\n  float m = -1e30f, s = 0;\n"
    + "  for (int j = 0; j < n; j++) m = m > a[i * n + j] ? m : a[i * n + j];\n"
    + "  for (int j = 0; j < n; j++) s += a[i * n + j] - m;\n"
    + "  for (int j = threadIdx.x; j < n; j += blockDim.x) o[i * n + j] = (a[i * n + j] - m) / s;\n}\n"
    + RUN
)
ALONE = (
    HEAD
    + "  float s = 0;\n  int base = blockIdx.x * n;\n  for (int j = 0; j < n; j++) s += a[base + j];\n"
    + "  for (int j = 0; j < n; j++) o[rows + base + j] = a[base + j] / s;\n  o[blockIdx.x] = s;\n}\n"
    + RUN.replace("64", "1")
)
FIRST = (
    HEAD
    + "  int tid = blockIdx.x * blockDim.x + threadIdx.x;\n  if (tid == 0 && n > 1) {\n    int s = 0;\n"
    + "    for (int i = 0; i < n; i++) s += (int)a[i];\n    o[0] = s;\n    o[1] = n;\n  }\n}\n"
    + RUN
)
SLOTS = (
    HEAD
    + "  extern __shared__ float part[];\n  float s = 0;\n"
    + "  for (int j = threadIdx.x; j < n; j += blockDim.x) s += a[blockIdx.x * n + j];\n"
    + "  part[threadIdx.x] = s;\n  __syncthreads();\n  if (threadIdx.x == 0) {\n    float t = part[0];\n"
    + "    for (int i = 1; i < blockDim.x; i++) t += part[i];\n    o[blockIdx.x] = t;\n  }\n}\n"
    + RUN.replace("64>>>", "64, 256>>>")
)
PLACE = (
    HEAD
    + "  if (threadIdx.x == 0) {\n    float best = -1;\n    int at = -1;\n"
    + "    for (int j = 0; j < n; j++)\n      if (j != rows && a[blockIdx.x * n + j] > best) {\n"
    + "        at = j + 1;\n        best = a[blockIdx.x * n + j];\n      }\n"
    + "    o[2 * blockIdx.x] = at;\n    o[2 * blockIdx.x + 1] = best;\n  }\n}\n"
    + RUN
)
LEAST = (
    HEAD
    + "  float m = a[0];\n  int w = 0;\n"
    + "  for (int i = 1; i < n; ++i) { float v = a[i] - 3; if (m > v) { m = v; w = i; } }\n"
    + "  o[0] = w;\n  o[1] = m;\n}\n"
    + RUN.replace("rows, 64", "1, 1")
)
SHARED = (
    HEAD
    + "  __shared__ float top, sum;\n  const float *row = a + blockIdx.x * n;\n"
    + "  if (threadIdx.x == 0) {\n    top = row[0];\n"
    + "    for (int i = 1; i < n; i++) top = fmaxf(top, row[i]);\n    sum = 1;\n"
    + "    for (int i = 0; i < n; i++) sum += row[i] - top;\n  }\n  __syncthreads();\n"
    + "  for (int i = threadIdx.x; i < n; i += blockDim.x)\n"
    + "    o[blockIdx.x * n + i] = (row[i] - top) / sum;\n}\n"
    + RUN
)
ALL = (SHARED, NORM, LATER, TWICE, ALIKE, ALONE, FIRST, SLOTS, PLACE, LEAST)


def edits(text: str, launch: Launch | None = None) -> list[Edit]:
    return list(share_loop(Kernel("k", text, "k.cu", launch), []))


class TestShareLoop(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(Kernel("run", t, "k.cu") for t in ALL)
    samples: ClassVar[tuple[Kernel, ...]] = SAMPLES

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return share_loop


def test_what_the_first_thread_did_before_the_loop_all_do() -> None:
    text = edits(NORM)[0].source
    assert (
        "  // the first thread adds up\n  float s = 0.0f;\n  for (int j = threadIdx.x; j < n; j += blockDim.x) {"
        in text
    )
    assert "  if (threadIdx.x == 0) o[row] = sqrtf(s); // rest\n}" in text


def test_a_sum_that_does_not_start_at_nothing_counts_once() -> None:
    text = edits(SLOTS)[0].source
    assert "if (threadIdx.x > 0) t = 0;" in text
    assert "for (int i = 1 + (int)threadIdx.x; i < blockDim.x; i += blockDim.x)" in text


def test_only_the_block_that_did_the_work_does_it() -> None:
    text = edits(FIRST)[0].source
    assert "if (n > 1 && blockIdx.x == 0) {" in text or "if (blockIdx.x == 0 && n > 1) {" in text
    assert "if (threadIdx.x == 0) {" in text


def test_blocks_of_one_thread_grow_where_the_launch_may_change() -> None:
    found = edits(ALONE)
    assert ["k<<<rows, 128>>>" in found[0].source, "k<<<rows, 256>>>" in found[1].source] == [
        True
    ] * 2
    assert "if (threadIdx.x == 0) o[blockIdx.x] = s;" in found[0].source
    bare = ALONE.removesuffix(RUN.replace("64", "1"))
    assert edits(bare, Launch(("rows",), ("1",))) == []
    launch = edits(bare, Launch(("rows",), ("1",), tunable=True))[0].launch
    assert launch is not None
    assert launch.block == ("128",)


@pytest.mark.parametrize(
    "text",
    [
        NORM.replace("64>>>", "48>>>"),  # half a warp
        NORM.replace("64>>>", "dim3(64, 2)>>>"),
        NORM.replace("if (threadIdx.x == 0)", "if (threadIdx.x == 1)"),
        NORM.replace("  int row", "  if (threadIdx.x > 7) return;\n  int row"),
        NORM.replace("s += v * v;", "s = s * 0.5f + v;"),  # a recurrence
        NORM.replace("s += v * v;", "s += v * v; if (s > 1e6f) break;"),
        NORM.replace("s += v * v;", "s += v * v; o[row + j % 2] = s;"),
        NORM.replace("a[row * n + j]", "a[row * n + j] + clock64()"),
        NORM.replace("float s = 0.0f;", "float s = atomicAdd(o, 1.0f);"),
        NORM.replace("  int row", "  for (int z = threadIdx.x; z < n; z += 64) {\n  int row").replace("// rest\n  }", "// rest\n  }\n  }"),
        LATER.replace("\tif (!t) top = m;", "\to[t] = m;\n\tif (!t) top = m;"),  # others have their own m
        LATER.replace("\tfloat m = a[0];", "\tfloat m = a[t];"),
        SLOTS.replace("  part[threadIdx.x] = s;\n  __syncthreads();", "  part[threadIdx.x] = s;"),
        ALIKE.replace("m : a[i * n + j]", "m : a[threadIdx.x]").replace(
            "s += a[i * n + j] - m", "s += a[i * n + j] * threadIdx.x"
        ),
        ALIKE.replace("int i = blockIdx.x;", "int i = blockIdx.x;\n  if (threadIdx.x >= n) return;"),
        ALIKE.replace("int i = blockIdx.x;", "int i = blockIdx.x;\n  if (threadIdx.x == 3) i = 0;"),
        ALONE.replace("  float s = 0;", "  float s = 0;\n  o[rows] = 1;").replace("s += a", "s += o"),
        PLACE.replace("> best", ">= best"),  # the last place counts
        PLACE.replace("at = j + 1", "at = n - j"),
        PLACE.replace("at = j + 1", "at = at + j"),
        PLACE.replace("j != rows", "j != at"),
        PLACE.replace("best = a[blockIdx.x * n + j];\n      }", "best = a[0];\n      }"),
        PLACE.replace("int at = -1", "float at = -1"),
        PLACE.replace("      }\n    o[2", "      } else at = 0;\n    o[2"),
    ],
)  # fmt: skip
def test_what_threads_cannot_share_is_left_alone(text: str) -> None:
    assert edits(text) == []


@given(st.text("abc =;,\t", max_size=24))
def test_comments_and_neighbours_stay_as_they_are(noise: str) -> None:
    other = f"/* {noise} */\nint other(int x) {{ return x; }} // {noise}\n"
    found = edits(other + NORM)
    assert [e.source for e in found] == [other + e.source for e in edits(NORM)]


def test_a_shared_scalar_that_one_thread_adds_up_is_worked_out_in_locals() -> None:
    text = edits(SHARED)[0].source
    assert "float own_top = row[0];" in text
    assert "i += blockDim.x) own_sum += row[i] - own_top;" in text
    alone = text[text.index("if (threadIdx.x == 0) {") :].split("__syncthreads")[0].split()
    assert " ".join(alone) == "if (threadIdx.x == 0) { top = own_top; sum = own_sum; }"
    for left in ("top = top + row[0]", "top = row[0]; atomicAdd(&sum, 1.0f)", "*o = row[0]"):
        assert edits(SHARED.replace("top = row[0]", left)) == []


def test_the_first_of_equal_extremes_is_kept() -> None:
    text = edits(PLACE)[0].source
    assert "const int at_there = __shfl_xor_sync(0xffffffff, at, offset);" in text
    assert "if (best_there > best || (best_there == best && at_there < at)) {" in text
    assert "if (m_there < m || (m_there == m && w_there < w)) {" in edits(LEAST)[0].source


def test_the_only_thread_of_all_becomes_the_largest_block() -> None:
    assert ["<<<1, 1024>>>" in e.source for e in edits(LEAST)] == [True, False]
    assert "<<<rows, 128>>>" in edits(ALONE)[0].source


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
def test_results_stay_the_same_for_odd_lengths(tmp_path: Path) -> None:
    main, texts = (
        """
    for (int n : {1, 63, 150}) {
      int rows = 3;
      std::vector<float> a(rows * n + 2), o(rows * n + rows + 8);
      for (int i = 0; i < rows * n; ++i) a[i] = i % 8;
      auto show = [&] { for (float& v : o) { printf("%.4g ", v); v = 0; } puts(""); };
    """,
        "",
    )
    for number, text in enumerate(t for t in ALL if t is not SLOTS):
        new = edits(text)[0].source.replace("1024>>>", "256>>>")
        for name, body in ((f"before{number}", text), (f"after{number}", new)):
            texts += f"namespace {name} {{\n{body}}}\n"
            main += f"      {name}::run(a.data(), o.data(), rows, n); show();\n"
    printed = emulator.run(texts, main + "    }", tmp_path).splitlines()
    assert printed[::2] == printed[1::2]
    assert len(printed) == 3 * 2 * (len(ALL) - 1)
