"""Threads of a block that take turns at elements."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.interleave import interleave
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

RUN = "void run(const int *x, int *y, int n) {{ {0}; }}\n"
CONST = """\
#define PER 5
__global__ void square(const int *x, int *y, int n)
{
    int base = (blockIdx.x * blockDim.x + threadIdx.x) * PER;
    for (int k = 0; k < PER; k++) {
        int i = base + k;  // own element
        if (i < n) y[i] = x[i] * x[i] + y[i];
    }
}
""" + RUN.format("square<<<(n + 8 * PER - 1) / (8 * PER), 8>>>(x, y, n)")
PASSED = """\
__global__ void shift(const int *x, int *y, int n, int per) {
\tconst int t = threadIdx.x + blockDim.x * blockIdx.x;
\tfor (int j = 0; j < per; ++j) {
\t\tint idx = t * per + j;
\t\tif (idx >= 1 && idx < n) y[idx] = x[idx - 1] - x[idx];
\t}
}
""" + RUN.format("shift<<<4, 8>>>(x, y, n, (n + 31) / 32)")
SUM = """\
__global__ void sum(const int *x, int *y, int n, int per) {
  __shared__ int part[8];
  size_t first = (size_t)(threadIdx.x + blockIdx.x * 8) * (per + 1);
  int s = 0;
  for (int k = 0; k < per + 1; k++)
    if (first + k < n) s += x[k + first];
  part[threadIdx.x] = s;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < 8; i++) s += part[i];
    atomicAdd(y, s);
  }
}
""" + RUN.format("sum<<<4, 8>>>(x, y, n, n / 32)")
ALL = (CONST, PASSED, SUM)


def edits(text: str) -> list[Edit]:
    return list(interleave(Kernel("run", text, "k.cu"), []))


class TestInterleave(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(Kernel("run", text, "k.cu") for text in ALL)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return interleave


def test_a_round_is_a_row_of_neighbours() -> None:
    (edit,) = edits(CONST)
    assert "int base = blockIdx.x * blockDim.x * PER + threadIdx.x;" in edit.source
    assert "int i = base + k * blockDim.x;  // own element" in edit.source


def test_a_number_that_nothing_asks_for_any_more_goes() -> None:
    (edit,) = edits(PASSED)
    assert "(blockIdx.x * blockDim.x * per + threadIdx.x) + j * blockDim.x;" in edit.source
    assert "const int t" not in edit.source


def test_wide_numbers_stay_wide_and_blocks_of_a_fixed_size_known() -> None:
    (edit,) = edits(SUM)
    assert "size_t first = (size_t)blockIdx.x * 8 * (per + 1) + threadIdx.x;" in edit.source
    assert "if (first + k * 8 < n) s += x[k * 8 + first];" in edit.source


@pytest.mark.parametrize(
    "text",
    [
        CONST.replace("y[i] = x[i]", "y[i] = k + x[i]"),
        CONST.replace("int base", "if (threadIdx.x > 3) y[0] = 1;\n    int base"),
        CONST.replace("    }\n}", "    }\n    y[base] = 1;\n}"),
        CONST.replace("+ y[i]", "+ y[i + 1]"),
        CONST.replace("if (i < n)", "if (i >= n) break;"),
        CONST.replace("k < PER;", "k < PER - 1;"),
        CONST.replace("int k = 0", "int k = 1"),
        CONST.replace("int i = base + k", "int i = base - k"),
        CONST.replace("blockDim.x + threadIdx.x)", "7 + threadIdx.x)").replace("y[i] =", "y[k] ="),
        CONST.replace(", 8>>>", ", dim3(8, 2)>>>"),
        PASSED.replace("\tfor", "\tif (t >= n) return;\n\tfor"),
        PASSED.replace("t * per + j", "t * n + j"),
        SUM.replace("s += x[k + first]", "s = s * 3 + x[k + first]"),
        SUM.replace("atomicAdd(y, s)", "y[blockIdx.x] += s"),
    ],
)
def test_threads_that_need_their_own_neighbours_keep_them(text: str) -> None:
    assert edits(text) == []


@pytest.mark.skipif(not emulator.AVAILABLE, reason="no g++")
def test_the_same_elements_are_worked_on(tmp_path: Path) -> None:
    texts = "static void atomicAdd(int *p, int v) { *p += v; }\n"
    main = r"""
    for (int n : {1, 39, 40, 97}) {
      std::vector<int> x(n + 9), y(n + 9);
      for (int i = 0; i < n + 9; i++) x[i] = i * 7 % 23;
      auto show = [&] { for (int& v : y) { printf("%d ", v); v = 0; } puts(""); };
    """
    for number, text in enumerate(ALL):
        changed = edits(text)[0].source
        for name, body in ((f"before{number}", text), (f"after{number}", changed)):
            texts += f"namespace {name} {{\n{body}}}\n"
            main += f"      {name}::run(x.data(), y.data(), n); show();\n"
    printed = emulator.run(texts, main + "    }", tmp_path).splitlines()
    assert printed[::2] == printed[1::2]
    assert len(set(printed)) > len(ALL)
