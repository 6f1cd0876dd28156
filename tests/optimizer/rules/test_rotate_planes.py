"""Neighbours along a loop, kept in registers."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel
from optimizer.rules.rotate_planes import rotate_planes
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

RUN = """\
void run(const float *u, float *v, int nx, int ny, int nz) {
    step<<<dim3((nx + 7) / 8, (ny + 3) / 4), dim3(8, 4)>>>(u, v, nx, ny, nz);
}
"""
SEVEN = (
    """\
#define AT(k, j, i) (((k) * ny + (j)) * nx + (i))
__global__ void step(const float *u, float *v, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1) return;
    for (int k = 1; k < nz - 1; k++) {
        // all six sides
        float s = u[AT(k, j, i - 1)] + u[AT(k, j, i + 1)] + u[AT(k, j - 1, i)] + u[AT(k, j + 1, i)]
                + u[AT(k - 1, j, i)] + u[AT(k + 1, j, i)];
        v[AT(k, j, i)] = s - 6.0f * u[AT(k, j, i)];
    }
}
"""
    + RUN
)
FAR = (
    """\
__global__ void step(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz) {
\tconst int x = threadIdx.x + blockDim.x * blockIdx.x, y = threadIdx.y + blockIdx.y * blockDim.y;
\tconst int plane = nx * ny;
\tif (x < nx && y < ny)
\t{
\t\tfor (int z = 4; z < nz - 4; ++z)
\t\t{
\t\t\tint at = z * plane + y * nx + x;
\t\t\tfloat s = in[at];
\t\t\ts += in[at - 1 * plane] + in[at + 1 * plane] + 2 * (in[at - 2 * plane] + in[at + 2 * plane]);
\t\t\ts -= in[at - 3 * plane] + in[at + 3 * plane] - in[at - 4 * plane] * in[at + 4 * plane];
\t\t\tif (s > 3) out[at] = s + in[at - plane];
\t\t\telse out[at] = -in[at];
\t\t}
\t}
}
"""
    + RUN
)
FIXED = (
    """\
constexpr int N = 5;
__global__ void step(const float *u, float *v, int nx, int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny || nz < 6) return;
  for (int z = 0; z < N; z++)
    if (i > 0) v[i + nx * (j + ny * z)] = z;
  for (int z = 0; z < N; z++) {
    float up = u[i + nx * (j + ny * (z + 1))];
    v[i + nx * (j + ny * z)] = up - u[i + nx * (j + ny * z)];
  }
}
"""
    + RUN
)
BARE = (
    """\
__global__ void step(const float *u, float *v, int nx, int ny, int nz) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= nx || j >= ny) return;
  for (int z = 1; z < nz - 1; z++)  // a column
    v[(z * ny + j) * nx + i] = u[((z - 1) * ny + j) * nx + i] - u[((z + 1) * ny + j) * nx + i]
                               * u[(z * ny + j) * nx + i];
}
"""
    + RUN
)
ONE_LINE = BARE.replace("  // a column\n    ", " ")
WIDE = BARE.replace("[(z * ny + j)", "[((size_t)z * ny + j)")
# `(i) + ...` reads as a cast of `+...` where i could be a type.
FASTEST_FIRST = SEVEN.replace("(((k) * ny + (j)) * nx + (i))", "((i) + nx * ((j) + ny * (k)))")
ALL = (SEVEN, FAR, FIXED, BARE, ONE_LINE, WIDE, FASTEST_FIRST)


def edits(text: str) -> list[Edit]:
    return list(rotate_planes(Kernel("run", text, "k.cu"), []))


class TestRotatePlanes(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(Kernel("run", t, "k.cu") for t in ALL)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return rotate_planes


def test_an_iteration_loads_what_the_next_ones_read() -> None:
    (edit,) = edits(SEVEN)
    assert "const float u_2 = u[AT(k + 1, j, i)];" in edit.source
    assert "+ u_0 + u_2;" in edit.source
    assert "s - 6.0f * u_1;" in edit.source
    assert "u_0 = u_1;\n        u_1 = u_2;\n    }" in edit.source
    assert "// all six sides" in edit.source


def test_places_that_need_wide_numbers_keep_them() -> None:
    (edit,) = edits(WIDE)
    assert "u_1 = u[i + (size_t)j * nx + (size_t)nx * ny];" in edit.source
    (edit,) = edits(SEVEN.replace("(((k) * ny", "(((size_t)(k) * ny"))
    assert "u_0 = u[i + (size_t)j * nx];" in edit.source


def test_a_body_without_braces_gets_them() -> None:
    (edit,) = edits(BARE)
    assert "z++) {  // a column\n    const float u_2 = u[((z + 1)" in edit.source
    (edit,) = edits(ONE_LINE)
    assert "z++) { \n" not in edit.source
    assert "    u_1 = u_2;\n  }\n}" in edit.source


def test_nothing_is_read_for_a_loop_of_no_iterations() -> None:
    (edit,) = edits(SEVEN)
    assert "    if (1 < nz - 1) {\n        u_0 = u[" in edit.source
    (edit,) = edits(FIXED)
    assert "    float u_0 = u[" in edit.source.replace("\n  ", "\n    ")


@pytest.mark.parametrize(
    "text",
    [
        SEVEN.replace("u, v, nx, ny, nz)", "v, v, nx, ny, nz)"),  # in place
        SEVEN.replace("const float *u, float *v, int nx, int ny, int nz)\n{", "float *u, float *v, "
                      "int nx, int ny, int nz)\n{").replace("v[AT(k, j, i)] =", "u[AT(k, j, i)] ="),
        SEVEN.replace("k++", "k += 2"),
        SEVEN.replace("int k = 1", "int k = threadIdx.x"),
        SEVEN.replace("        v[AT", "        if (s > 2) continue;\n        v[AT"),
        SEVEN.replace("+ u[AT(k + 1, j, i)]", "+ (s0 ? u[AT(k + 1, j, i)] : 0)").replace(
            "+ u[AT(k - 1, j, i)]", "+ (s0 ? u[AT(k - 1, j, i)] : 0)"
        ).replace("    for (", "    bool s0 = nz > 3;\n    for ("),
        FIXED.replace("    float up", "    if (i > 2) v[0] = 1; else\n    v[1] = 1;\n    nx = nx + 1;\n    float up"),
        FIXED.replace("(z + 1)", "(2 * z + 1)"),
    ],
)  # fmt: skip
def test_reads_that_some_iterations_leave_out_or_that_change_stay(text: str) -> None:
    assert text not in ALL
    assert edits(text) == []


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
def test_results_stay_the_same_for_odd_sizes(tmp_path: Path) -> None:
    """One program holds all kernels before and after: compiling takes longer than running."""
    parts: list[str] = []
    for number, text in enumerate(ALL):
        parts.append(f"namespace before{number} {{\n{text}}}\n")
        parts.append(f"namespace after{number} {{\n{edits(text)[0].source}}}\n")
    calls = ", ".join(f"{{before{n}::run, after{n}::run}}" for n in range(len(ALL)))
    main = f"""
    using Run = void (*)(const float *, float *, int, int, int);
    Run runs[][2] = {{ {calls} }};
    for (auto &pair : runs) for (int x : {{1, 9}}) for (int y : {{6}}) for (int z : {{1, 2, 3, 10}}) {{
      std::vector<float> a(x * y * z), o(x * y * z), p(x * y * z);
      for (int i = 0; i < x * y * z; ++i) a[i] = i * 7 % 11;
      pair[0](a.data(), o.data(), x, y, z);
      pair[1](a.data(), p.data(), x, y, z);
      double sum = 0;
      for (float v : o) sum += v * v;
      if (o != p || (x > 8 && z > 9 && sum == 0)) printf("%d at %dx%dx%d ", int(&pair - runs), x, y, z);
    }}"""
    assert not emulator.run("".join(parts), main, tmp_path)
