"""More blocks for loops that a whole grid can share."""

from __future__ import annotations

import re
from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.boundary import violations
from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel, Launch
from optimizer.rules.more_blocks import more_blocks
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

HOST = "void run(int *a, int *b, int *c, int n) {{ {0}; }}\n"
GRID = """\
__global__ void scale(const int *a, const int *b, int *c, int n)
{
    const int all = blockDim.x * gridDim.x;
    const int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = first; i < n; i += all)
        c[i] = a[i] * b[i] + c[i];
}
""" + HOST.format("scale<<<32, 64>>>(a, b, c, n)")
DOT = """\
#define THREADS 64
__global__ void dot(const int *a, const int *b, int *c, int n) {
    __shared__ int part[THREADS];
    int tid = threadIdx.x + blockIdx.x * THREADS;
    int sum = 0;
    while (tid < n) {
        sum += a[tid] * b[tid];
        tid += THREADS * gridDim.x;
    }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int s = THREADS / 2; s > 0; s /= 2) {
        if (threadIdx.x < s) part[threadIdx.x] += part[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) atomicAdd(&c[0], part[0]);
}
""" + HOST.format("int blocks = 16; dot<<<blocks, THREADS>>>(a, b, c, n)")
BLOCK = """\
__global__ void add(int n, int *x, int *y) {
  int index = threadIdx.x;
  int stride = blockDim.x;
  for (int i = index; i < n; i += stride)
      y[i] = x[i] + y[i];
}
""" + HOST.format("add<<<1, 256>>>(n, a, c)")
SERIAL = """\
__global__ void add(int n, const int *x, int *y)
{
\tfor (int i = 1; i < n; i++) {
\t\tint v = x[i - 1];
\t\ty[i] = v + x[i];
\t}
}
""" + HOST.format("add<<<1, 1>>>(n, a, c)")
NEST = """\
__global__ void product(const int *a, const int *b, int *c, int n)
{
    int i, j, k;
    for (i = 0; i < n; i++)
        for (j = 0; j < n; j++) {
            c[i * n + j] = 0;
            for (k = 0; k < n; k++) c[i * n + j] += a[i * n + k] * b[k * n + j];
        }
}
""" + HOST.format("product<<<1, 1>>>(a, b, c, n)")
ALL = (GRID, DOT, BLOCK, SERIAL, NEST)


def edits(text: str) -> list[Edit]:
    return list(more_blocks(Kernel("run", text, "k.cu"), []))


class TestMoreBlocks(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(Kernel("run", text, "k.cu") for text in ALL)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return more_blocks


def test_a_small_grid_grows_to_fill_the_device() -> None:
    first, second = edits(GRID)
    assert "scale<<<4096, 64>>>" in first.source
    assert "scale<<<1024, 64>>>" in second.source
    assert "dot<<<4096, THREADS>>>" in edits(DOT)[0].source


def test_one_block_becomes_a_grid_and_its_strides_the_grid_s() -> None:
    text = edits(BLOCK)[0].source
    assert "int index = blockIdx.x * blockDim.x + threadIdx.x;" in text
    assert "int stride = blockDim.x * gridDim.x;" in text
    assert "add<<<1024, 256>>>" in text


def test_one_thread_becomes_a_grid() -> None:
    text = edits(SERIAL)[0].source
    assert (
        "i = 1 + blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x" in text
    )
    assert "add<<<1024, 256>>>" in text


def test_rows_of_one_thread_go_to_blocks_and_their_elements_to_threads() -> None:
    text = edits(NEST)[0].source
    assert "for (i = blockIdx.x; i < n; i += gridDim.x)" in text
    assert "for (j = threadIdx.x; j < n; j += blockDim.x) {" in text


def test_a_launch_of_a_workload_changes_too() -> None:
    alone = BLOCK.partition("void run")[0]
    kernel = Kernel("add", alone, "k.cu", Launch(("1",), ("128",), tunable=True))
    launch = next(iter(more_blocks(kernel, []))).launch
    assert launch is not None
    assert (launch.grid, launch.block) == (("2048",), ("128",))


@pytest.mark.parametrize(
    "text",
    [
        GRID.replace("<<<32, 64>>>", "<<<n, 64>>>"),
        GRID.replace("<<<32, 64>>>", "<<<8192, 64>>>"),
        GRID.replace("c[i] = a[i]", "c[first] = a[i]"),
        GRID.replace("+ c[i]", "+ c[i + 1]"),
        GRID.replace("c[i] =", "c[b[i]] ="),
        GRID.replace("i += all", "i += 64"),
        DOT.replace("atomicAdd(&c[0], part[0])", "c[0] = part[0]"),
        DOT.replace("atomicAdd(&c[0]", "atomicAdd(&c[blockIdx.x]"),
        DOT.replace("sum += a[tid]", "sum = sum / 2 + a[tid]"),
        DOT.replace("THREADS * gridDim.x;", "THREADS * gridDim.x; __syncthreads();"),
        BLOCK.replace("<<<1, 256>>>", "<<<2, 256>>>"),
        BLOCK.replace("y[i];", "y[i]; if (index == 0) y[n] = 1;"),
        BLOCK.replace("x[i] + y[i]", "x[i] + y[0]"),
        BLOCK.replace("y[i];\n", "y[i];\n  y[n] = index;\n"),
        SERIAL.replace("(n, a, c)", "(n, c, c)"),
        SERIAL.replace("x[i - 1]", "y[i - 1]"),
        SERIAL.replace("int v = x[i - 1];", "if (x[i]) break; int v = 1;"),
        SERIAL.replace("y[i] = v", "y[0] += v"),
        SERIAL.replace("i < n", "i < 100"),
        SERIAL.replace("int v =", 'printf("%d", i); int v ='),
        SERIAL.replace("{\n\tfor", "{\n\tint s = 0;\n\tfor").replace("y[i] = v", "y[i] = s += v"),
    ],
)
def test_loops_that_depend_on_their_order_or_their_grid_are_left_alone(text: str) -> None:
    assert edits(text) == []


@pytest.mark.parametrize(
    "text", [NEST.replace("c[i * n + j]", "c[i + j]"), NEST.replace("j < n", "j < n + 1")]
)
def test_rows_that_overlap_are_left_alone(text: str) -> None:
    assert edits(text) == []


@pytest.mark.skipif(not emulator.AVAILABLE, reason="no g++")
def test_results_stay_whatever_the_grid(tmp_path: Path) -> None:
    main = r"""
    int n = 23; std::vector<int> a(n * n), b(n * n), c(n * n, 1);
    for (int i = 0; i < n * n; i++) { a[i] = i % 11; b[i] = i % 7; }
    auto show = [&] { for (int v : c) printf("%d ", v); puts(""); c.assign(n * n, 1); };
    """
    texts, calls = "", ""
    for number, text in enumerate(text for text in ALL if "atomic" not in text):
        new = re.sub(r"<<<\d+, \d+>>>", "<<<3, 8>>>", edits(text)[0].source)
        extent = "n" if text is NEST else "n * n"
        for name, body in ((f"before{number}", text), (f"after{number}", new)):
            texts += f"namespace {name} {{ {body} }}\n"
            calls += f"{name}::run(a.data(), b.data(), c.data(), {extent}); show();\n"
    printed = emulator.run(texts, main + calls, tmp_path).splitlines()
    assert printed[::2] == printed[1::2]
    assert len(set(" ".join(printed).split())) > 50


@pytest.mark.parametrize("text", ALL)
def test_edits_stay_inside_the_boundary(text: str) -> None:
    for edit in edits(text):
        assert violations(text, edit.source) == ()
