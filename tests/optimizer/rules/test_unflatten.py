"""Matrix products whose threads take one number apart into row and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.boundary import violations
from optimizer.model import Edit, Kernel
from optimizer.rules.tile_matmul import tile_matmul
from tests.optimizer.rules import emulator

INSIDE = (
    "__global__ void mm(const float *A, const float *B, float *C, int m, int n, int k) {\n"
    "  int idx = blockIdx.x * blockDim.x + threadIdx.x;\n  int total = m * n;\n"
    "  if (idx < total) {\n    int row = idx / n;\n    int col = idx % n;\n    float s = 0;\n"
    "    for (int t = 0; t < k; t++) {\n      s += A[row * k + t] * B[col * k + t];\n    }\n"
    "    C[idx] = s;\n  }\n}\n"
    "void run(const float *a, const float *b, float *c, int m, int n, int k) {\n"
    "  mm<<<(m * n + 31) / 32, 32>>>(a, b, c, m, n, k);\n}\n"
)
EARLY = (
    "#define THREADS 64\n"
    "__global__ void mm(const double *A, const double *B, double *C, size_t n, double f) {\n"
    "    size_t tid = blockIdx.x * (size_t)blockDim.x + threadIdx.x;\n"
    "    if (tid >= n * n) return;\n    const size_t i = tid / n, j = tid % n;\n"
    "    double acc = 0.0;\n"
    "    for (size_t p = 0; p < n; ++p) acc += A[i * n + p] * B[p * n + j];\n"
    "    C[i * n + j] = acc * f;\n}\n"
    "void run(const double *a, const double *b, double *c, int n) {\n"
    "  dim3 grid((n * n + THREADS - 1) / THREADS);\n"
    "  mm<<<grid, THREADS>>>(a, b, c, n, 2.0);\n}\n"
)


def edits(text: str) -> list[Edit]:
    return list(tile_matmul(Kernel("mm", text), []))


@pytest.mark.parametrize(("text", "rows", "columns"), [(INSIDE, "m", "n"), (EARLY, "n", "n")])
def test_rows_and_columns_of_one_number_are_tiled(text: str, rows: str, columns: str) -> None:
    found = edits(text)
    assert len(found) == 4
    wide = [f"(({extent} + 15) / 16 + 3) / 4" for extent in (columns, rows)]
    assert f"<<<dim3({wide[0]}, {wide[1]}), dim3(16, 16)>>>" in found[1].source
    assert all(not violations(text, e.source, allow_host=False) for e in found)
    assert all(not edits(e.source) for e in found)


def test_an_element_named_by_the_one_number_is_named_by_both() -> None:
    assert "C[row * n + col] = s;" in edits(INSIDE)[0].source


@pytest.mark.parametrize(
    "text",
    [
        INSIDE.replace("idx % n", "idx % m"),
        INSIDE.replace("total = m * n", "total = m * k"),
        INSIDE.replace("total = m * n", "total = m * n - 1"),
        INSIDE.replace("idx < total", "idx <= total"),
        INSIDE.replace("C[idx] = s", "C[idx] = s + idx"),
        INSIDE.replace("float s = 0;", "float s = 0; n = k;"),
        INSIDE.replace("(a, b, c, m, n, k);", "(a, b, c, m, n + 1, k);"),
        INSIDE.replace("(m * n + 31) / 32, 32", "dim3((m * n + 31) / 32, 2), 32"),
        INSIDE.replace("(m * n + 31) / 32, 32", "(m * n + 31) / 32, dim3(32, 2)"),
        INSIDE.replace("mm<<<", "auto f = mm;\n  mm<<<"),
        EARLY.replace("tid % n;", "tid % n, q = tid;").replace("acc * f", "acc * q"),
    ],
)
def test_a_number_that_says_more_is_left_alone(text: str) -> None:
    assert text not in (INSIDE, EARLY)
    assert edits(text) == []


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
def test_tiles_give_the_products_of_flat_threads(tmp_path: Path) -> None:
    main = (
        "int m = 7, n = 45, k = 19;\nstd::vector<float> a(m * k), b(n * k), c(m * n);\n"
        "for (size_t i = 0; i < a.size(); ++i) a[i] = (int)(i * 7 % 13) - 6;\n"
        "for (size_t i = 0; i < b.size(); ++i) b[i] = (int)(i * 5 % 11) - 5;\n"
        "run(a.data(), b.data(), c.data(), m, n, k);\n"
        'for (float v : c) std::printf("%g ", v);'
    )
    wanted = emulator.run(INSIDE, main, tmp_path)
    assert emulator.run(edits(INSIDE)[3].source, main, tmp_path) == wanted
