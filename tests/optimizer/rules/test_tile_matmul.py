"""Matrix products by tiles."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from optimizer.model import Edit, Kernel
from optimizer.rules.tile_matmul import tile_matmul
from tests.optimizer.rules import emulator

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


def test_four_sizes_of_tile_are_offered_with_their_grids() -> None:
    found = edits(GUARDED)
    shapes = [re.findall(r"\d×\d a thread", e.title)[0][:3] for e in found]
    assert shapes == ["8×8", "4×4", "8×4", "2×2"]
    assert "dim3 grid(((n + 15) / 16 + 3) / 4, ((m + 15) / 16 + 7) / 8);" in found[2].source
    assert "dim3 grid(((n + 15) / 16 + 7) / 8, ((m + 15) / 16 + 7) / 8);" in found[0].source


def test_a_counter_declared_for_the_loop_goes_with_it() -> None:
    text = edits(GUARDED.replace("for (int p = 0", "int p;\n    for (p = 0"))[0].source
    assert "int p;" not in text


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
        GUARDED.replace("float s = 0.0f", "float s = alpha"),
        GUARDED.replace("float s = 0.0f;", "int unused = 3; float s; s = 0;"),
        "#define REAL double\n" + GUARDED.replace("float *", "REAL *").replace("float s", "REAL s"),
        GUARDED.replace("int row", "const unsigned long row").replace("int p = 0", "size_t p = 0"),
        "template <typename T>\n"
        + GUARDED.replace("const float *", "const T *")
        .replace("float *C", "T *C")
        .replace("float s = 0.0f", "T s = static_cast<T>(0)")
        .replace("mm<<<", "mm<float><<<"),
        GUARDED.replace("for (int p = 0", "int p;\n    for (p = 0"),
        "#define SQ(x) ((x) * (x))\n"
        + GUARDED.replace("A[row * k + p] * B[p * n + col]", "SQ(A[row * k + p] - B[p * n + col])"),
        "__device__ float sq(const float v) { return v * v; }\n"
        + GUARDED.replace("A[row * k + p] * B[p * n + col]", "sq(A[row * k + p] - B[p * n + col])"),
        "#define IDX2C(i,j,ld) (((j)*(ld))+(i))\n"
        + GUARDED.replace("[row * k + p]", "[IDX2C(row, p, m)]")
        .replace("[p * n + col]", "[IDX2C(p, col, k)]")
        .replace("[row * n + col]", "[IDX2C(row, col, m)]"),
        GUARDED.replace("  int row", "  const int z = blockIdx.z;\n  A += z * m * k;\n  int row", 1)
        .replace("  A += z * m * k;", "  const float *X = A + z * m * k;")
        .replace("s += A[", "s += X["),
        "#define ROOT sqrtf\n"
        + GUARDED.replace(
            "A[row * k + p] * B[p * n + col]", "ROOT(A[row * k + p] * B[p * n + col])"
        ),
        GUARDED.replace(
            "s += A[row * k + p] * B[p * n + col];",
            "{ float d = A[row * k + p] - B[col * k + p]; s += d * d; }",
        ),
        GUARDED.replace(
            "A[row * k + p] * B[p * n + col]",
            "(A[row * k + p] - B[p * n + col]) * (A[row * k + p] - B[p * n + col])",
        ),
        GUARDED.replace(
            "A[row * k + p] * B[p * n + col]", "fabsf(A[row * k + p] - B[col * k + p])"
        ),
        GUARDED.replace("s += A[row * k + p] *", "s = s + powf(A[row * k + p], 2.0f) * alpha *"),
        GUARDED.replace(
            "s += A[row * k + p] * B[p * n + col];",
            "{ float a = A[row * k + p]; float b = B[p * n + col]; s += a * b; }",
        ),
        GUARDED.replace(
            "int row = blockIdx.y * blockDim.y + threadIdx.y",
            "int ty = threadIdx.y, by = blockIdx.y;\n  int row = by * 16 + ty",
        ),
    ],
)
def test_other_ways_to_write_a_product_are_recognised(text: str) -> None:
    assert len(edits(text)) >= 2


@pytest.mark.parametrize(
    "text",
    [
        # no test of the extents, and the kernel cannot name what the grid covers
        (HEAD + IDS + LOOP + "}\n" + RUN).replace("(n + 15) / 16", "wide"),
        GUARDED.replace("col < n", "col <= n"),
        GUARDED.replace("A[row * k + p]", "A[(blockIdx.y * 16 + threadIdx.y) * k + p]"),
        GUARDED.replace("blockIdx.y * blockDim.y", "blockIdx.y * 32"),
        GUARDED.replace("float s", "A[row] = 0; float s"),
        GUARDED.replace("B[p * n + col]", "B[row * n + col]"),
        GUARDED.replace("A[row * k + p] * B", "A[row * k + p] + 1.f + B"),
        GUARDED.replace("A[row * k + p] * B[p * n + col]", "expf(A[row * k + p] - B[p * n + col])"),
        GUARDED.replace(
            "A[row * k + p] * B[p * n + col]", "powf(A[row * k + p] - B[p * n + col], 0)"
        ),
        GUARDED.replace(
            "s += A[row * k + p] *", "float d = A[row * k] - 1.f; s += d * d * A[row * k + p] *"
        ),
        "#define SQ(x) ((x) * (x) + 1)\n"
        + GUARDED.replace("A[row * k + p] * B[p * n + col]", "SQ(A[row * k + p] - B[p * n + col])"),
        GUARDED.replace("  int row", "  const float *X = A + threadIdx.z * k;\n  int row").replace(
            "s += A[", "s += X["
        ),
        GUARDED.replace("s += A[row * k + p] *", "float d = 0; d += A[row * k + p]; s += d *"),
        GUARDED.replace(
            "s += A[row * k + p] *", "s += (A[row * k + p] - A[row * k + k - p - 1]) *"
        ),
        GUARDED.replace("A[row * k + p] * B[p * n + col]", "A[row * k + p] / B[p * n + col]"),
        GUARDED.replace("s += A", "if (p % 2) s += A"),
        GUARDED.replace("block(16, 16)", "block(m, n)"),
        GUARDED.replace("++p", "p += 2"),
        GUARDED.replace("mm<<<grid, block>>>", "auto f = mm; mm<<<grid, block>>>"),
    ],
)
def test_what_is_no_product_of_tested_extents_is_left_alone(text: str) -> None:
    assert edits(text) == []


STRUCTS = (
    "struct M { int width; int height; float *data; };\n"
    "__global__ void mm(M A, M B, M C) {\n  float s = 0;\n"
    + IDS
    + "  for (int e = 0; e < A.width; ++e)\n"
    "    s += A.data[row * A.width + e] * B.data[e * B.width + col];\n"
    "  C.data[row * C.width + col] = s;\n}\n"
    "void run(float *a, float *b, float *c, int m, int n, int k) {\n"
    "  M x{k, m, a}, y{n, k, b}, z{n, m, c};\n  dim3 block(4, 4);\n"
    "  dim3 grid(y.width / block.x, x.height / block.y);\n  mm<<<grid, block>>>(x, y, z);\n}\n"
)
SMALL = GUARDED.replace("block(16, 16)", "block(8, 4)").replace("(n + 15) / 16", "(n + 7) / 8")
SMALL = SMALL.replace("(m + 15) / 16", "(m + 3) / 4")


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
@pytest.mark.parametrize(
    ("text", "sizes"),
    [
        (SMALL, (19, 37, 23)),
        (SMALL.replace("A[row * k + p] * B[p * n + col]", "A[p * m + row] * B[col * k + p]"), (5, 9, 3)),
        (SMALL.replace("    float s = 0.0f;", "    C[row * n + col] *= 3;\n    float s = 2;"), (9, 9, 17)),
        (SMALL.replace("    float s = 0.0f;", "    int at = row * k; float s = 0;").replace("row * k + p", "at + p"), (7, 5, 9)),
        (HEAD + IDS + LOOP + "}\n" + RUN.replace("16, 16", "4, 4").replace("(n + 15) / 16", "n / 4")
         .replace("(m + 15) / 16", "m / 4"), (20, 36, 5)),
        (STRUCTS, (12, 20, 7)),
        (SMALL.replace("s += A[row * k + p] * B[p * n + col]", "{ float a = A[row * k + p], b = B[col * k + p]; "
         "const float d = a - b, t = d * alpha; s += t * d; }"), (9, 21, 7)),
        # six threads along a row do not share a tile evenly: one buffer
        (SMALL.replace("block(8, 4)", "block(6, 4)").replace("(n + 7) / 8", "(n + 5) / 6"), (7, 13, 9)),
    ],
)  # fmt: skip
def test_tiles_give_the_same_products(
    text: str, sizes: tuple[int, int, int], tmp_path: Path
) -> None:
    m, n, k = sizes
    main = (
        f"int m = {m}, n = {n}, k = {k};\nstd::vector<float> a(m * k), b(k * n), c(m * n);\n"
        "for (size_t i = 0; i < a.size(); ++i) a[i] = (int)(i * 7 % 13) - 6;\n"
        "for (size_t i = 0; i < b.size(); ++i) b[i] = (int)(i * 5 % 11) - 5;\n"
        "for (size_t i = 0; i < c.size(); ++i) c[i] = (int)(i % 5);\n"
        "run(a.data(), b.data(), c.data(), m, n, k);\n"
        'for (float v : c) std::printf("%g ", v);'
    )
    wanted = emulator.run(text, main, tmp_path)
    found = edits(text)
    assert found
    assert all(emulator.run(edit.source, main, tmp_path) == wanted for edit in found[-2:])


def test_a_grid_in_a_dim3_of_two_extents_stays_one() -> None:
    two = GUARDED + "__global__ void other(float *c) { c[0] = 1; }\n"
    two = two.replace("1.f);", "1.f);\n  other<<<grid, block>>>(c);")
    assert two.count("<<<") == 2
    text = "__global__ void other(float *c);\n" + two
    assert "mm<<<dim3((grid.x + 7) / 8, (grid.y + 7) / 8), block>>>" in edits(text)[0].source


def test_results_of_a_thread_are_neighbours_and_the_next_tile_is_on_its_way() -> None:
    text = edits(GUARDED)[1].source
    assert "fragA[i] = tileA[buffer][q][ty * 4 + i];" in text
    assert "nextA[e] = row < m && p < k ? A[row * k + p] : float(0);" in text
    assert text.count("__syncthreads();") == 1
    odd = GUARDED.replace("block(16, 16)", "block(12, 8)").replace("(n + 15) / 16", "(n + 11) / 12")
    assert "__syncthreads();" in (
        text := edits(odd.replace("(m + 15) / 16", "(m + 7) / 8"))[1].source
    )
    assert "buffer" not in text
    assert text.count("__syncthreads();") == 2


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
