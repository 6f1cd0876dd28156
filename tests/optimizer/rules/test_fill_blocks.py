"""Blocks of one thread filled up."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.boundary import violations
from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel, Launch
from optimizer.rules.fill_blocks import fill_blocks
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

ADD = """\
__global__ void add(const float *a, const float *b, float *c, int n)
{
    int tid = blockIdx.x;    // one block an element
    if (tid < n)
        c[tid] = a[tid] + b[tid];
}
void run(const float *a, const float *b, float *c, int n) { add<<<n, 1>>>(a, b, c, n); }
"""
STRIDE = """\
__global__ void add(const float *a, const float *b, float *c, int n) {
  int tid = blockIdx.x;
  while (tid < n) {
    c[tid] = a[tid] * b[tid];
    tid += gridDim.x;
  }
}
void run(const float *a, const float *b, float *c, int n) { add<<<128, 1>>>(a, b, c, n); }
"""
IMAGE = """\
#define DIM 64
__global__ void image(const float *a, const float *b, float *c, int n) {
  int x = blockIdx.x;
  int y = blockIdx.y;
  int offset = x + y * gridDim.x;
  c[offset % n] = a[offset % n] + 0 * b[0];
}
void run(const float *a, const float *b, float *c, int n) {
  dim3 grid(DIM, DIM);
  image<<<grid, 1>>>(a, b, c, n);
}
"""
PLAIN = """\
__global__ void plain(const float *a, const float *b, float *c, int n) {
  c[blockIdx.x] = a[blockIdx.x] - b[blockIdx.x];
}
void run(const float *a, const float *b, float *c, int n) { plain<<<96, 1>>>(a, b, c, n); }
"""


def edits(text: str) -> list[Edit]:
    return list(fill_blocks(Kernel("run", text, "k.cu"), []))


class TestFillBlocks(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(
        Kernel("run", text, "k.cu") for text in (ADD, STRIDE, IMAGE, PLAIN)
    )

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return fill_blocks


def test_a_tested_number_gets_blocks_of_256() -> None:
    text = edits(ADD)[0].source
    assert "int tid = blockIdx.x * blockDim.x + threadIdx.x;    // one block" in text
    assert "add<<<(n + 255) / 256, 256>>>" in text


def test_strides_grow_with_the_blocks() -> None:
    assert "tid += (gridDim.x * blockDim.x);" in edits(STRIDE)[0].source


def test_exact_extents_are_divided() -> None:
    text = edits(IMAGE)[0].source
    assert "image<<<grid, dim3(16, 16)>>>" in text
    assert "dim3 grid(DIM / 16, DIM / 16);" in text
    assert "plain<<<96 / 32, 32>>>" in edits(PLAIN)[0].source


def test_a_launch_of_a_workload_changes_grid_and_block() -> None:
    alone = ADD.partition("void run")[0]
    kernel = Kernel("add", alone, "k.cu", Launch(("n",), ("1",), tunable=True))
    launch = next(iter(fill_blocks(kernel, []))).launch
    assert launch is not None
    assert (launch.grid, launch.block) == (("(n + 255) / 256",), ("256",))


@pytest.mark.parametrize(
    "text",
    [
        ADD.replace("add<<<n, 1>>>", "add<<<n, 32>>>"),
        ADD.replace("if (tid < n)", "if (tid > 0)"),
        ADD.replace("c[tid] =", "c[tid + threadIdx.x] ="),
        ADD.replace("int tid", "__shared__ float s; s = n; int tid"),
        PLAIN.replace("<<<96, 1>>>", "<<<97, 1>>>"),
        PLAIN.replace("<<<96, 1>>>", "<<<n, 1>>>"),
        IMAGE.replace("#define DIM 64", "#define DIM 31"),
    ],
)
def test_other_launches_are_left_alone(text: str) -> None:
    assert edits(text) == []


@pytest.mark.skipif(not emulator.AVAILABLE, reason="no g++")
@pytest.mark.parametrize("text", [ADD, STRIDE, IMAGE, PLAIN])
def test_the_same_elements_are_written(text: str, tmp_path: Path) -> None:
    main = r"""
    int n = 300; std::vector<float> a(n), b(n), c(n, -1);
    for (int i = 0; i < n; i++) { a[i] = i; b[i] = i % 7; }
    run(a.data(), b.data(), c.data(), n);
    for (float v : c) printf("%g ", v);"""
    before = emulator.run(text, main, tmp_path)
    edit = edits(text)[0]
    assert not violations(text, edit.source)
    assert emulator.run(edit.source, main, tmp_path) == before
