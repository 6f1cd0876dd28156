"""What threads read around their own place, staged with its halo."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.knobs import sizes_shared
from optimizer.model import Edit, Kernel, Launch
from optimizer.rules.tile_halo import tile_halo
from optimizer.source import Source
from optimizer.syntax import walk
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

PLANE = """\
void run(const float *a, const float *b, float *o, int w, int h) {
    dim3 block(8, 4);
    k<<<dim3((w + 7) / 8, (h + 3) / 4), block>>>(a, b, o, w, h);
}
"""
LINE = """\
void run(const float *a, const float *b, float *o, int w, int h) {
    k<<<(w * h + 31) / 32, 32>>>(a, o, w * h);
}
"""
HEAD = """\
__global__ void k(const float *a, const float *b, float *o, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
"""
BORDER = (
    "#define AT(r, c) ((r) * w + (c))\n"
    + HEAD
    + """\
    if (x < w && y < h) {
        if (x == 0 || y == 0 || x == w - 1 || y == h - 1) {
            o[AT(y, x)] = a[AT(y, x)];  // the edge stays
        } else {
            o[AT(y, x)] = a[AT(y, x)] + 0.25f * (a[AT(y + 1, x)] + a[AT(y - 1, x)]
                        + a[AT(y, x + 1)] + a[AT(y, x - 1)]);
        }
    }
}
"""
    + PLANE
)
INTERIOR = (
    HEAD
    + """\
    // only what has neighbours
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    float gx = a[(y-1)*w + x+1] - a[(y-1)*w + x-1] + a[(y+1)*w + x+1] - a[(y+1)*w + x-1];
    o[y*w + x] = gx + b[y*w + x] + b[y*w + x-1] * 2 + b[(y+1)*w + x];
}
"""
    + PLANE
)
BLUR = (
    "#define R 3\n"
    + HEAD
    + """\
    if (x < w && y < h) {
        float sum = 0;
        int seen = 0;
        for (int i = -R; i < R + 1; ++i)
            for (int j = -R; j <= R; ++j) {
                int row = y + i, col = x + j;
                if (row > -1 && row < h && col > -1 && col < w) {
                    sum += a[row * w + col];
                    seen++;
                }
            }
        o[y * w + x] = sum / seen;
    }
}
"""
    + PLANE
)
COLUMNS = """\
#define BX 16
#define BY 2
__global__ void k(const float* __restrict__ src, float* __restrict__ dst, int w, int h) {
\tint iy = threadIdx.y + BY * blockIdx.y;
\tint ix = threadIdx.x + blockIdx.x * BX;
\tbool inside = ix < w && iy < h;
\tif (!inside) return;
\tfloat s = 0.f;
\tfor (int t = 0; t < 5; t++) {
\t\tint at = iy - 2 + t;
\t\tif (0 <= at && at <= h - 1) s += src[ix + at * w] * (t + 1);
\t}
\tdst[ix + iy * w] = s;
}
void run(const float *a, const float *b, float *o, int w, int h) {
\tdim3 threads(BX, BY);
\tdim3 blocks((w + BX - 1) / BX, (h + BY - 1) / BY);
\tk<<<blocks, threads>>>(a, o, w, h);
}
"""
LINES = (
    """\
template <typename T>
__global__ void k(const T *in, T *out, const unsigned n)
{
  unsigned tid = threadIdx.x + blockIdx.x * blockDim.x;
  if (tid >= 4 && tid + 4 < n)
    out[tid] = in[tid - 4] + 2 * in[tid - 1] - in[tid] + in[tid + 3] * in[tid + 4];
}
"""
    + LINE
)
CHOSEN = (
    """\
__global__ void k(const float *u, float *v, size_t n) {
  size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  while (0) {}
  if (i >= n) return;
  v[i] = u[i] * 2 + ((i > 0) ? u[i - 1] : 0.0f) + ((i < n - 1) ? u[i + 1] : 0.0f);
}
"""
    + LINE
)
LAYERS = """\
__global__ void k(const float *a, const float *b, float *o, int w, int h)
{
    const int x = threadIdx.x + blockIdx.x * blockDim.x;
    const int y = threadIdx.y + blockIdx.y * blockDim.y;
    const float *of = a + blockIdx.z * w * h;
    if (x >= w - 2 || y >= h)
        return;
    o[(blockIdx.z * h + y) * w + x] = of[y * w + x] + of[y * w + x + 1] * of[y * w + x + 2];
}
void run(const float *a, const float *b, float *o, int w, int h) {
    k<<<dim3((w + 4) / 5, (h + 2) / 3, 2), dim3(5, 3)>>>(a, b, o, w, h / 2);
}
"""
ALL = (BORDER, INTERIOR, BLUR, COLUMNS, LINES, CHOSEN, LAYERS)


def edits(text: str) -> list[Edit]:
    return list(tile_halo(Kernel("run", text, "k.cu"), []))


class TestTileHalo(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(Kernel("run", t, "k.cu") for t in ALL)

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return tile_halo


def test_the_tile_is_filled_before_any_thread_can_leave() -> None:
    (edit,) = edits(INTERIOR)
    assert edit.source.index("__syncthreads();") < edit.source.index("return;")
    assert "// only what has neighbours" in edit.source
    assert "__shared__ float a_tile[4 + 2][8 + 2];" in edit.source

    assert "b_tile[4 + 1][8 + 1]" in edit.source


def test_only_what_the_tests_of_the_kernel_allow_is_loaded() -> None:
    (edit,) = edits(LAYERS)
    assert "gy >= 0 && gy < h && gx >= 0 && gx < w)" in edit.source
    assert "a[blockIdx.z * h * w + gy * w + gx]" in edit.source


def test_rows_that_need_wide_numbers_keep_them() -> None:
    text = BLUR.replace("a[row * w", "a[(size_t)row * w")
    assert "a[(size_t)gy * w + gx]" in edits(text)[0].source


def test_the_block_of_a_workload_serves_where_the_file_has_no_launch() -> None:
    kernel = Kernel("k", BLUR.partition("void run(")[0], "k.cu")
    launch = Launch(("(w + 15) / 16", "(h + 15) / 16"), ("16", "16"))
    assert not list(tile_halo(kernel, []))
    (edit,) = tile_halo(Kernel("k", kernel.source, "k.cu", launch=launch), [])
    assert "a_tile[16 + 6][16 + 6]" in edit.source


def test_a_block_that_is_tuned_takes_the_tile_along() -> None:
    (edit,) = edits(BORDER)
    (kernel,) = Source(edit.source).kernels
    shared = [n for n in walk(kernel.body, "number_literal") if sizes_shared(n)]
    assert [Source(edit.source).of(n) for n in shared] == ["4", "2", "8", "2"]


@pytest.mark.parametrize(
    "text",
    [
        BORDER.replace("o[AT(y, x)] = a[AT(y, x)];", "o[AT(y, x)] = 0; ((float *)a)[3] = 1;"),
        BORDER.replace("const float *a", "float *a").replace(
            "o[AT(y, x)] = a[AT(y, x)];", "a[AT(y, x)] = 0;"
        ),
        BORDER.replace("(a, b, o, w, h)", "(o, b, o, w, h)"),  # in place
        BORDER.replace("dim3 block(8, 4)", "dim3 block(w, 4)"),
        BORDER.replace("    if (x < w", "    __syncthreads();\n    if (x < w"),
        BLUR.replace("#define R 3\n", "").replace("int h)", "int h, int R)"),  # at run time
        BLUR.replace("#define R 3", "#define R 300"),
        BLUR.replace("col < w)", "col < w + b[0])"),  # who knows
        BLUR.replace("row > -1 && ", ""),
        LINES.replace("tid >= 4 && ", "in[0] > 1 && "),
        LINES.replace(" - in[tid] + in[tid + 3]", "").replace("2 * in[tid - 1]", "2"),
        CHOSEN.replace("(i > 0) ? u[i - 1]", "(v[0] > 0) ? u[i - 1]"),
        LAYERS.replace("dim3(5, 3)", "dim3(5, 3, 2)"),
    ],
)
def test_reads_that_are_not_seen_to_exist_or_to_stay_are_left_alone(text: str) -> None:
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
    using Run = void (*)(const float *, const float *, float *, int, int);
    Run runs[][2] = {{ {calls} }};
    for (auto &pair : runs) for (int w : {{2, 9, 33}}) for (int h : {{2, 6, 13}}) {{
      std::vector<float> a(w * h), b(w * h), o(w * h), p(w * h);
      for (int i = 0; i < w * h; ++i) a[i] = i * 7 % 11, b[i] = i % 5;
      pair[0](a.data(), b.data(), o.data(), w, h);
      pair[1](a.data(), b.data(), p.data(), w, h);
      double sum = 0;
      for (float v : o) sum += v;
      if (o != p || (w > 9 && h > 6 && sum == 0)) printf("%d at %dx%d ", int(&pair - runs), w, h);
    }}"""
    assert not emulator.run("".join(parts), main, tmp_path)
