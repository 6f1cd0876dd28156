"""A block for a row."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.block_per_row import block_per_row
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

HEAD = "__global__ void k(const float *a, float *o, int n, int m) {\n"
ROW = "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= n) return;\n"
RUN = "void run(float *a, float *o, int n, int m) { k<<<(n + 63) / 64, 64>>>(a, o, n, m); }\n"
SUM = (
    HEAD
    + ROW
    + "  float s = a[row];\n  for (int j = 0; j < m; ++j) s += a[row * m + j];\n  o[row] = s;\n}\n"
    + RUN
)
SOFTMAX = (
    HEAD
    + "\tunsigned r = threadIdx.x + blockDim.x * blockIdx.x;\n\tif (r < n) {\n"
    + "\t\tconst float *x = a + r * m;\n\t\tfloat *y = o + r * m;\n\t\tfloat top = -1e30f, sum = 0.0f;\n"
    + "\t\tfor (int j = 0; j < m; j++) top = fmaxf(top, x[j]);\n"
    + "\t\tfor (int j = 0; j < m; j++) sum += x[j] > top - 3 ? 1.0f : 0.5f;\n"
    + "\t\tfor (int j = 0; j < m; j++) y[j] = x[j] / sum + top;\n\t}\n}\n"
    + RUN
)  # fmt: skip
PASSES = (
    HEAD
    + ROW
    + "  float best = 0;\n  for (int p = 0; p < 3; p++) {\n    float s = 0.f;\n"
    + "    for (int j = 1; j < m; j++) {\n      s += a[row * m + j] * p;\n    }\n    best += s;\n  }\n"
    + "  o[row] = best;\n}\n"
    + RUN
)
TWO = (
    HEAD
    + ROW
    + "  double s = 0; double q = 0;\n  for (int j = 0; j < m; j++) { s += a[row * m + j]; q += a[row * m + j] * a[row * m + j]; }\n"
    + "  o[row] = q - s;\n}\n"
    + RUN
)


def edits(text: str) -> list[Edit]:
    return list(block_per_row(Kernel("run", text, "k.cu"), []))


class TestBlockPerRow(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(
        Kernel("run", text, "k.cu") for text in (SUM, SOFTMAX, PASSES, TWO)
    )

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return block_per_row


def test_threads_stride_the_row_and_join_through_shared_memory() -> None:
    (edit,) = edits(SUM)
    assert "int row = blockIdx.x;" in edit.source
    assert "for (int j = threadIdx.x; j < m; j += blockDim.x)" in edit.source
    assert "if (threadIdx.x > 0) s = 0;" in edit.source
    assert "if (threadIdx.x == 0) o[row] = s;" in edit.source
    assert "k<<<(n + 63) / 64 * 64, 64>>>" in edit.source


def test_a_row_that_is_walked_again_waits_before_it_joins_again() -> None:
    assert edits(PASSES)[0].source.count("__syncthreads();") == 2


@pytest.mark.parametrize(
    "text",
    [
        SUM.replace("(n + 63) / 64, 64", "(n + 31) / 32, 32"),  # a warp is all there is
        SUM.replace("a[row * m + j]", "a[j * n + row]"),  # neighbours read neighbours already
        SUM.replace("s += a[row * m + j]", "s = s * 0.5f + a[row * m + j]"),
        SUM.replace("float s = a[row]", "float s = threadIdx.x"),
        SUM.replace("64, 64>>>", "64, m>>>"),
    ],
)
def test_what_is_no_row_of_a_thread_is_left_alone(text: str) -> None:
    assert edits(text) == []


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
@pytest.mark.parametrize("text", [SUM, SOFTMAX, PASSES, TWO])
def test_results_stay_the_same_for_odd_sizes(text: str, tmp_path: Path) -> None:
    main = """
    for (int n : {1, 3}) for (int m : {1, 5, 150}) {
      std::vector<float> a(n * m + n), o(n * m + n);
      for (int i = 0; i < n * m; ++i) a[i] = i % 17;
      run(a.data(), o.data(), n, m);
      for (float v : o) printf("%g ", v);
    }"""
    wanted = emulator.run(text, main, tmp_path)
    assert emulator.run(edits(text)[0].source, main, tmp_path) == wanted
