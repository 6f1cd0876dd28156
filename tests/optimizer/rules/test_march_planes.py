"""Points of a volume, made a walk through its layers."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel, Launch
from optimizer.rules.march_planes import march_planes
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

HEAT = """\
__global__ void heat(const float *u, float *v, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    int z = blockIdx.z * blockDim.z + threadIdx.z;
    // inside only
    if (x >= 1 && x < nx - 1 && y >= 1 && y < ny - 1 && z >= 1 && z < nz - 1) {
        int i = (z * ny + y) * nx + x;
        v[i] = u[i] + 0.5f * (u[i - 1] + u[i + 1] + u[i - nx] + u[i + nx]
                              + u[i - nx * ny] + u[i + nx * ny] - 6.0f * u[i]);
    }
}
void run(const float *a, float *o, int nx, int ny, int nz) {
    dim3 block(4, 2, 2), grid((nx + 3) / 4, (ny + 1) / 2, (nz + 1) / 2);
    heat<<<grid, block>>>(a, o, nx, ny, nz);
}
"""
WAVE = """\
__global__ void wave(const float *__restrict__ p, float *__restrict__ next, int nx, int ny, int nz) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x, j = threadIdx.y + blockIdx.y * 2;
  const int k = blockIdx.z;
  const int sy = nx, sz = nx * ny;
  const int at = i + j * sy + k * sz;
  if (i < 2 || i > nx - 3 || j < 2 || j >= ny - 2 || 2 > k || k > nz - 3) return;
  float lap = p[at - sz] + p[at + sz] - p[at] * 2;
  lap -= 3 * (p[at - 2 * sz] + p[at + 2 * sz] + p[at - 2] * p[at + 2 * sy]);

  next[at] = lap;  // once
}
void run(const float *a, float *o, int nx, int ny, int nz) {
  wave<<<dim3((nx + 3) / 4, (ny + 1) / 2, nz), dim3(4, 2)>>>(a, o, nx, ny, nz);
}
"""
CUBE = """\
__global__ void cube(float *in, float *out, unsigned int nx, unsigned int ny, unsigned int nz)
{
\tunsigned int k = blockIdx.z * blockDim.z + threadIdx.z;
\tunsigned int j = blockIdx.y * blockDim.y + threadIdx.y;
\tunsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
\tif (k > 0 && k < nz - 1 && j < ny && i < nx) {
\t\tout[(k * ny + j) * nx + i] = in[((k - 1) * ny + j) * nx + i] * 2
\t\t\t+ in[((k + 1) * ny + j) * nx + i] - in[(k * ny + j) * nx + i];
\t}
}
void run(const float *a, float *o, int nx, int ny, int nz) {
\tdim3 block(4, 2, 4);
\tcube<<<dim3((nx + 3) / 4, (ny + 1) / 2, (nz + 3) / 4), block>>>((float *)a, o, nx, ny, nz);
}
"""
ALONE = """\
__global__ void alone(const float *a, float *o, int layer, int nz)
{
  int id = blockIdx.x * blockDim.x + threadIdx.x, k = blockIdx.z * 2 + threadIdx.z;
  if (k >= nz - 1) return;
  o[k * layer + id] = a[k * layer + id] - a[(k + 1) * layer + id] * 0.25f;
}
void run(const float *a, float *o, int nx, int ny, int nz) {
  alone<<<dim3(nx, 1, nz / 2), dim3(ny, 1, 2)>>>(a, o, nx * ny, nz);
}
"""
ALL = (HEAT, WAVE, CUBE, ALONE)


def edits(text: str) -> list[Edit]:
    return list(march_planes(Kernel("run", text, "k.cu"), []))


class TestMarchPlanes(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(Kernel("run", t, "k.cu") for t in ALL)
    samples: ClassVar[tuple[Kernel, ...]] = ()  # every rule is tried on them in test_testing.py

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return march_planes


def test_the_walk_keeps_to_the_layers_that_the_test_allowed() -> None:
    first, *_ = edits(HEAT)
    assert "int z_chunk = (blockIdx.z * blockDim.z + threadIdx.z) * 16;" in first.source
    assert "    if (x >= 1 && x < nx - 1 && y >= 1 && y < ny - 1) {\n" in first.source
    assert "const int z_end = min(z_chunk + 16, nz - 1);" in first.source
    assert "u_0 = u[nx * ny * z_first + nx * y + x - nx * ny];" in first.source
    assert "((nz + 1) / 2 + 15) / 16)" in first.source
    assert "// inside only" in first.source
    assert len(edits(HEAT)) == 3


def test_what_needs_the_layer_moves_into_the_walk_and_the_rest_stays_before_it() -> None:
    first, *_ = edits(WAVE)
    walk, loop = first.source.index("int sy = nx"), first.source.index("for (int k = k_first")
    assert walk < loop < first.source.index("const int at")
    assert "if (i < 2 || i > nx - 3 || j < 2 || j >= ny - 2) return;" in first.source
    assert "const int k_first = max(k_chunk, 2);" in first.source
    assert "min(k_chunk + 16, nz - 3 + 1)" in first.source


def test_the_launch_of_a_workload_gets_fewer_blocks() -> None:
    text = HEAT.partition("void run(")[0]
    grid = ("(nx + 3) / 4", "(ny + 1) / 2", "(nz + 1) / 2")
    launch = Launch(grid, ("4", "2", "2"), tunable=True)
    text = text.replace("const float *u, float *v", "const float *__restrict__ u, float *v")
    text = text.replace("float *v", "float *__restrict__ v")
    (first, *_) = march_planes(Kernel("heat", text, "k.cu", launch), [])
    assert first.launch is not None
    assert first.launch.grid[2] == "((nz + 1) / 2 + 15) / 16"


@pytest.mark.parametrize(
    "text",
    [
        HEAT.replace("z < nz - 1)", "z != nz - 1)"),  # no end
        HEAT.replace("z >= 1 &&", "z >= y &&"),
        HEAT.replace("(a, o, nx", "(o, o, nx"),  # in place
        HEAT.replace("v[i] = u[i]", "v[i] = u[i] + blockIdx.z"),
        HEAT.replace("v[i] = u[i]", "if (u[i] < 0) return;\n        v[i] = u[i]"),
        HEAT.replace("v[i] = u[i]", "atomicAdd(&v[0], 1.0f); v[i] = u[i]"),
        HEAT.replace("    int z =", "    float seen = 0;\n    int z =").replace(
            "v[i] = u[i]", "seen += u[i]; v[i] = seen"
        ),
        HEAT.replace("- nx * ny]", "- nx]").replace("+ nx * ny]", "+ nx]"),  # nothing to keep
        HEAT.replace("    // inside only", "    __shared__ float s[4]; s[0] = 1; __syncthreads();"),
        HEAT.replace(", (nz + 1) / 2)", ")"),  # one block along z
        HEAT.replace("    // inside only", "    v[x + z] = 0;"),
        WAVE.replace("  if (i < 2", "  next[at] = 0;\n  if (i < 2"),
        WAVE.replace("|| 2 > k", "|| at > 5 || 2 > k"),
        CUBE.replace("k > 0 &&", "k > j - 1 &&"),
        ALONE.replace("k >= nz - 1", "k >= nz - 1 - (int)threadIdx.z"),
    ],
)
def test_kernels_that_know_their_layer_otherwise_are_left_alone(text: str) -> None:
    assert text not in ALL
    assert edits(text) == []


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
def test_results_stay_the_same_for_odd_sizes(tmp_path: Path) -> None:
    """One program holds all kernels before and after: compiling takes longer than running."""
    parts: list[str] = []
    for number, text in enumerate(ALL):
        edit = edits(text)[number % 2]
        parts.append(f"namespace before{number} {{\n{text}}}\n")
        parts.append(f"namespace after{number} {{\n{edit.source}}}\n")
    calls = ", ".join(f"{{before{n}::run, after{n}::run}}" for n in range(len(ALL)))
    main = f"""
    using Run = void (*)(const float *, float *, int, int, int);
    Run runs[][2] = {{ {calls} }};
    for (auto &pair : runs) for (int x : {{5}}) for (int z : {{2, 34}}) {{
      int n = x * 6 * z;
      std::vector<float> a(n), o(n), p(n);
      for (int i = 0; i < n; ++i) a[i] = i * 7 % 11;
      pair[0](a.data(), o.data(), x, 6, z);
      pair[1](a.data(), p.data(), x, 6, z);
      double sum = 0;
      for (float v : o) sum += v * v;
      if (o != p || (z > 4 && sum == 0)) printf("%d at %dx%d ", int(&pair - runs), x, z);
    }}"""
    assert not emulator.run("".join(parts), main, tmp_path)
