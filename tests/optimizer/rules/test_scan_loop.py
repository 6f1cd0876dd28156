"""Running sums of one thread become prefix sums of a block, tile after tile."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.scan_loop import scan_loop
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules.host_threads import run

# Each kernel gets x, y and the numbers of rows and columns; with the text of its launch.
ONE = "  k<<<1, 1>>>(x, y, rows, cols);\n"
BLOCK = "  k<<<4, 64>>>(x, y, rows, cols);\n"
ROWS = "  k<<<(rows + 63) / 64, 64>>>(x, y, rows, cols);\n"
KERNELS = {
    "alone, in the array": (ONE, """\
  y[0] = x[0];
  for (int i = 1; i < cols; i++)
    y[i] = y[i-1] + x[i];
"""),
    "alone, one longer": (ONE, """\
  y[0] = 0;
  for (int i = 0; i < cols; ++i) {
    y[i + 1] = x[i] + y[i];
  }
"""),
    "thread 0, without its own": (BLOCK, """\
  if (threadIdx.x == 0 && blockIdx.x == 0) {
    int sum = 0;
    for (int i = 0; i < cols; ++i) {
      y[i] = sum;
      sum += x[i];
    }
    y[cols] = sum;
  }
"""),
    "thread 0, in place": (BLOCK, """\
  if (blockIdx.x == 1 && threadIdx.x == 0) {
    int total = 5;
    for (int b = 0; b <= cols - 1; b++) {
      int count = y[b];
      y[b] = total;
      total = total + count;
    }
  }
"""),
    "rows, in a variable": (ROWS, """\
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  int acc = 0;
  for (int c = 0; c < cols; c++) {
    acc += x[r * cols + c] * 2;
    y[r * cols + c] = acc + 1;
  }
"""),
    "rows, in place": (ROWS, """\
  const int row = threadIdx.x + blockDim.x * blockIdx.x;
  if (row < rows) {
    for (int c = 1; c < cols; c++)
      y[row * cols + c] += y[row * cols + c - 1];
  }
"""),
}  # fmt: skip
HEAD = "__global__ void k(const int *x, int *y, int rows, int cols) {\n"
GO = "}\nvoid go(const int *x, int *y, int rows, int cols) {\n"


def text_of(name: str) -> str:
    launch, body = KERNELS[name]
    return f"{HEAD}{body}{GO}{launch}}}\n"


def edits(text: str) -> list[Edit]:
    return list(scan_loop(Kernel("k", text, "k.cu"), []))


class TestScanLoop(RewriteRuleContract):
    applies_to = (Kernel("k", text_of("rows, in place"), "k.cu"),)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return scan_loop


@pytest.mark.parametrize("name", KERNELS)
def test_each_way_to_keep_a_running_sum_is_seen(name: str) -> None:
    found = edits(text_of(name))
    assert len(found) == (2 if KERNELS[name][0] == ONE else 1)
    assert all("__shfl_up_sync" in e.source for e in found)


def test_sums_are_the_same_on_the_host(tmp_path: Path) -> None:
    parts, calls = [], []
    for at, name in enumerate(KERNELS):
        before, after = text_of(name), edits(text_of(name))[-1].source
        for text, kernel in ((before, f"a{at}"), (after, f"b{at}")):
            parts.append(text.partition(GO)[0].replace("void k(", f"void {kernel}(") + "}\n")
        grid, block, new = {
            ONE: ("1", "1", "256"), BLOCK: ("4", "64", "64"), ROWS: ("1", "64", "64")
        }[KERNELS[name][0]]  # fmt: skip
        wide = "rows" if KERNELS[name][0] == ROWS else grid
        calls.append(f"""
      launch(dim3({grid}), dim3({block}), [=] {{ a{at}(p, q, rows, cols); }});
      launch(dim3({wide}), dim3({new}), [=] {{ b{at}(p, r, rows, cols); }});
      if (y != z) {{ printf("{at} differs for %d\\n", cols); return 1; }}
""")
    main = f"""
  for (int cols : {{1, 70, 300}}) {{
      int rows = 2;
      std::vector<int> x(rows * cols), y(rows * cols + 1), z;
      for (int i = 0; i < rows * cols; i++) {{ x[i] = i * 7 % 11; y[i] = i % 5; }}
      z = y;
      auto p = x.data(); auto q = y.data(), r = z.data();
{"".join(calls)}
  }}
  puts("same");"""
    assert run("".join(parts), main, tmp_path) == "same\n"


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("alone, in the array", "y[i-1] + x[i]", "y[i-2] + x[i]"),
        ("alone, in the array", "y[i-1] + x[i]", "y[i-1] * x[i]"),
        ("alone, in the array", "y[i-1] + x[i]", "y[i-1] + y[i / 2]"),
        ("alone, in the array", "i++", "i += 2"),
        ("alone, in the array", "<<<1, 1>>>", "<<<1, rows>>>"),
        ("alone, in the array", "k<<<1, 1>>>(x, y", "k<<<1, 1>>>(y, y"),
        ("thread 0, without its own", "y[i] = sum", "y[x[i]] = sum"),
        ("thread 0, without its own", "sum += x[i]", "sum += x[i] > sum"),
        ("thread 0, without its own", "sum += x[i]", "sum += x[i] * 0.5f"),
        ("thread 0, without its own", "sum += x[i];", "sum += x[i]; if (sum > 9) break;"),
        ("thread 0, in place", "    int total", "    total"),
        ("rows, in a variable", "acc += x[r * cols + c] * 2;", "acc += y[r * cols + c] + x[c];\n    y[r * cols + c + 1] = 3;"),
        ("rows, in place", "c - 1]", "c - cols]"),
        ("rows, in place", "c < cols", "c < cols + (int)threadIdx.x"),
    ],
)  # fmt: skip
def test_what_is_no_running_sum_stays(name: str, old: str, new: str) -> None:
    text = (
        text_of(name)
        .replace(old, new)
        .replace("if (blockIdx.x == 1", "int total;\n  if (blockIdx.x == 1")
    )
    assert old in text_of(name)
    assert not edits(text)


def test_columns_stay_with_their_threads() -> None:
    text = text_of("rows, in place").replace("row * cols + c", "c * cols + row")
    assert not edits(text.replace("c - 1]", "(c - 1) * cols]"))
