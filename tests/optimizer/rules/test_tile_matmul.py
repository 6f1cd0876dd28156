"""Matrix products by tiles."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from optimizer.model import Edit, Kernel
from optimizer.rules.tile_matmul import tile_matmul

HEAD = "__global__ void mm(const float *A, const float *B, float *C, int m, int n, int k, float alpha) {\n"
IDS = (
    "  int row = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "  int col = blockIdx.x * blockDim.x + threadIdx.x;\n"
)
LOOP = (
    "    float s = 0.0f;\n    for (int p = 0; p < k; ++p) s += A[row * k + p] * B[p * n + col];\n"
    "    C[row * n + col] = alpha * s + C[row * n + col];\n"
)
RUN = (
    "void run(float *a, float *b, float *c, int m, int n, int k) {\n"
    "  dim3 block(16, 16);\n  dim3 grid((n + 15) / 16, (m + 15) / 16);\n"
    "  mm<<<grid, block>>>(a, b, c, m, n, k, 1.f);\n}\n"
)
GUARDED = HEAD + IDS + "  if (row < m && col < n) {\n" + LOOP + "  }\n}\n" + RUN


def edits(text: str) -> list[Edit]:
    return list(tile_matmul(Kernel("mm", text), []))


def test_three_sizes_of_tile_are_offered_with_their_grids() -> None:
    found = edits(GUARDED)
    assert [re.findall(r"(\d+)×\1 a thread", e.title) for e in found] == [["8"], ["4"], ["2"]]
    assert "dim3 grid(((n + 15) / 16 + 7) / 8, ((m + 15) / 16 + 7) / 8);" in found[0].source


def test_the_statements_behind_the_loop_are_kept_as_they_are() -> None:
    text = edits(GUARDED)[0].source
    assert "C[row * n + col] = alpha * s + C[row * n + col];" in text
    assert "if (row < m && col < n) {" in text


@pytest.mark.parametrize(
    "text",
    [
        HEAD + IDS + "  if (row >= m || col >= n) return;\n" + LOOP + "}\n" + RUN,
        GUARDED.replace("row", "i").replace("col", "j"),
        GUARDED.replace("A[row * k + p] * B[p * n + col]", "B[col * k + p] * A[p * m + row]"),
        GUARDED.replace("float", "double"),
        GUARDED.replace("s += A", "s = s + A"),
    ],
)
def test_other_ways_to_write_a_product_are_recognised(text: str) -> None:
    assert len(edits(text)) >= 2


@pytest.mark.parametrize(
    "text",
    [
        HEAD + IDS + LOOP + "}\n" + RUN,  # no test of the extents
        GUARDED.replace("B[p * n + col]", "B[row * n + col]"),
        GUARDED.replace("A[row * k + p] * B", "A[row * k + p] + B"),
        GUARDED.replace("A[row * k + p] * B[p * n + col]", "A[row * k + p] / B[p * n + col]"),
        GUARDED.replace("s += A", "if (p % 2) s += A"),
        GUARDED.replace("block(16, 16)", "block(m, n)"),
        GUARDED.replace("++p", "p += 2"),
        GUARDED.replace("float s = 0.0f", "float s = alpha"),
        GUARDED.replace("mm<<<grid, block>>>", "auto f = mm; mm<<<grid, block>>>"),
    ],
)
def test_what_is_no_product_of_tested_extents_is_left_alone(text: str) -> None:
    assert edits(text) == []


def test_the_result_comes_to_rest() -> None:
    for edit in edits(GUARDED):
        assert edits(edit.source) == []


@pytest.mark.skipif(shutil.which("nvcc") is None, reason="needs nvcc")
def test_the_tiled_kernels_compile(tmp_path: Path) -> None:
    for n, edit in enumerate(edits(GUARDED)):
        file = tmp_path / f"mm{n}.cu"
        file.write_text(edit.source)
        command = ["nvcc", "-cubin", "-arch=sm_90", "-o", str(tmp_path / "out"), str(file)]
        assert subprocess.run(command, check=False, capture_output=True).returncode == 0
