"""A thread's loop shared with others."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from optimizer.interfaces import RewriteRule
from optimizer.model import Edit, Kernel, Launch
from optimizer.rules.split_loop import split_loop
from optimizer.testing import RewriteRuleContract
from tests.optimizer.rules import emulator

HEAD = "__global__ void k(const float *a, const float *b, float *o, int m, int n) {\n"
ID = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
EARLY = ID + "  if (i >= n) return;\n"
RUN = (
    "void run(float *a, float *b, float *o, int m, int n) {\n"
    "  int blocks = (n + 31) / 32;\n  k<<<blocks, 32>>>(a, b, o, m, n);\n}\n"
)
COLUMNS = (
    HEAD + EARLY + "  for (int j = 0; j < m; j++) o[j * n + i] = a[j * n + i] + b[j];\n}\n" + RUN
)
ROWS = (
    HEAD
    + "  const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;\n  if (i < n) {\n"
    + "    float f = b[i];\n    for (int j = 0; j < m; ++j) {\n"
    + "      float s = 0;\n      for (int t = 0; t < 3; t++) s += a[i * m + j] * t;\n"
    + "      o[i * m + j] = s * f;\n    }\n  }\n}\n"
    + RUN
)
LATE = HEAD + EARLY + "  for (int j = 1; j <= m - 1; j++) o[i + n * j] *= a[i];\n}\n" + RUN
PAIRS = (
    HEAD
    + EARLY
    + "  float x = a[i], s = 0.f;\n  for (int j = 0; j < n; j++) {\n    float d = a[j] - x;\n"
    + "    s += b[j] / (d * d + 1.f);\n  }\n  o[i] = s;\n}\n"
    + RUN
)

SUMS = (
    HEAD
    + EARLY
    + "  float s = 0.f, most = b[i];\n  int j;\n  for (j = 0; j < m; j++) {\n"
    + "    s += a[j * n + i] * b[0];\n    most = fmaxf(most, a[j * n + i]);\n  }\n"
    + "  o[i] = s / m + most;\n}\n"
    + RUN
)
BELOW = (
    HEAD
    + ID
    + "  if (i < n - 1) {\n    o[i] = b[i];\n    for (int t = i + 1; t < n; t++) {\n"
    + "      float s = 0;\n      for (int j = 0; j < m; j++) s += a[j * n + i] * b[t];\n"
    + "      o[n + i * n + t] = s;\n    }\n  }\n}\n"
    + RUN
)


BODIES = """\
typedef struct { float x, m, vx; } Body;
__global__ void pull(Body *p, int n) {
  int first = blockIdx.x * blockDim.x + threadIdx.x;
  int stride = blockDim.x * gridDim.x;
  for (int i = first; i < n; i += stride) {
    float f = 0.f;
    for (int j = 0; j < n; j++) {
      float d = p[j].x - p[i].x;
      f += d / (d * d + 1.f);
    }
    p[i].vx += f;
  }
}
void run(Body *p, int n, int sms) {
  pull<<<8 * sms, 128>>>(p, n);
}
"""


def edits(text: str, launch: Launch | None = None) -> list[Edit]:
    return list(split_loop(Kernel("run", text, "k.cu", launch), []))


class TestSplitLoop(RewriteRuleContract):
    applies_to: ClassVar[tuple[Kernel, ...]] = tuple(
        Kernel("run", text, "k.cu") for text in (COLUMNS, ROWS, LATE, PAIRS, SUMS, BELOW)
    )

    @pytest.fixture
    def rule(self) -> RewriteRule:
        return split_loop


def test_independent_outputs_go_to_rows_of_blocks() -> None:
    text = edits(COLUMNS)[0].source
    assert "for (int j = blockIdx.y; j < m; j += gridDim.y)" in text
    assert "k<<<dim3(blocks, 16), 32>>>" in text


def test_a_loop_that_starts_later_starts_at_its_start() -> None:
    assert "int j = 1 + (int)blockIdx.y;" in edits(LATE)[0].source


def test_a_sum_over_what_all_threads_read_goes_to_lanes() -> None:
    text = edits(PAIRS)[0].source
    assert "for (int j = lane; j < n; j += 32)" in text
    assert "s += __shfl_xor_sync(0xffffffff, s, offset);" in text
    assert "if (lane == 0) o[i] = s;" in text


def test_bodies_that_a_thread_takes_a_grid_apart_go_to_lanes() -> None:
    (edit,) = edits(BODIES)
    assert "for (int i = (first) / 32; i < n; i += stride / 32) {" in edit.source
    assert "for (int j = lane; j < n; j += 32) {" in edit.source
    assert "if (lane == 0) p[i].vx += f;" in edit.source
    assert "pull<<<(8 * sms) * 32, 128>>>" in edit.source


@pytest.mark.parametrize(
    ("old", "new"),
    [("p[i].vx += f", "p[i].x += f"), ("float x, m, vx;", "union { float x, vx; }; float m;")],
    ids=["what others read", "another name of it"],
)
def test_a_member_that_is_read_and_written_keeps_the_loop_whole(old: str, new: str) -> None:
    assert old in BODIES
    assert not edits(BODIES.replace(old, new))


@pytest.mark.parametrize(
    "body",
    [
        "  for (int j = 1; j < m; j++) o[j * n + i] = o[(j - 1) * n + i] + a[i];\n",  # recurrence
        "  for (int j = 0; j < m; j++) o[i] = a[j * n + i];\n",  # one element
        "  float s = 0;\n  for (int j = 0; j < m; j++) { s += a[j * n + i]; o[j * n + i] = s; }\n",
        "  for (int j = 0; j < m; j++) { if (a[j] < 0) break; o[j * n + i] = a[i]; }\n",
        "  o[i] = 1;\n  for (int j = 1; j < m; j++) o[j * n + i] = a[i];\n",  # writes outside
        "  for (int j = blockIdx.y; j < m; j++) o[j * n + i] = a[i];\n",
        "  for (int j = 0; j < m; j++) o[(j / 2) * n + i] = a[i];\n",  # two to an element
        "  float s = 0;\n  for (int j = 0; j < m; j++) s = s * 0.5f + a[j];\n  for (int j = 0; j < m; j++) o[j * n + i] = s;\n",
        "  for (int j = 0; j < m; j++) atomicAdd(&o[j * n + i], a[i]);\n",
        "  float s = 0;\n  for (int j = 0; j < n; j++) s = s * 0.5f + a[j];\n  o[i] = s;\n",
    ],
)
def test_what_depends_on_its_predecessor_is_left_alone(body: str) -> None:
    assert edits(HEAD + EARLY + body + "}\n" + RUN) == []


@pytest.mark.parametrize(
    "run",
    [RUN.replace("<<<blocks,", "<<<dim3(blocks, m),"), RUN + "auto p = &k;\n"],
)
def test_a_grid_that_is_not_one_row_of_known_blocks_is_left_alone(run: str) -> None:
    assert edits(COLUMNS.replace(RUN, run)) == []


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
@pytest.mark.parametrize("text", [COLUMNS, ROWS, LATE, PAIRS])
def test_results_stay_the_same_for_odd_sizes(text: str, tmp_path: Path) -> None:
    main = """
    for (int n : {1, 31, 65}) for (int m : {1, 3, 37}) {
      std::vector<float> a(n * m + n), b(n + m), o(n * m + n);
      for (int i = 0; i < n * m + n; ++i) a[i] = i % 17, o[i] = i % 7;
      for (int i = 0; i < n + m; ++i) b[i] = i % 5 + 1;
      run(a.data(), b.data(), o.data(), m, n);
      for (float v : o) printf("%.4g ", v);
    }"""
    wanted = emulator.run(text, main, tmp_path)
    assert emulator.run(edits(text)[0].source, main, tmp_path) == wanted


def test_a_counter_declared_before_the_loop_does_no_harm() -> None:
    text = COLUMNS.replace("for (int j = 0", "int j;\n  for (j = 0")
    assert "for (j = blockIdx.y; j < m; j += gridDim.y)" in edits(text)[0].source
    later = text.replace("b[j];\n}", "b[j];\n  o[0] = j;\n}")
    assert not [e for e in edits(later) if "rows of blocks" in e.title]


def test_columns_side_by_side_are_summed_by_four_or_eight_lanes_each() -> None:
    four, eight = (e.source for e in edits(SUMS) if "column" in e.title)
    assert "int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 8 + threadIdx.x % 8;" in four
    assert "for (j = part; j < m; j += 4)" in four
    assert "unsigned int peers = 0x01010101u << threadIdx.x % 8;" in four
    assert "__shfl_xor_sync(peers, s, offset)" in four
    assert "k<<<blocks * 4, 32>>>" in four
    assert "unsigned int peers = 0x11111111u << threadIdx.x % 4;" in eight


def test_shuffles_name_only_lanes_of_one_column_where_columns_differ_in_length() -> None:
    assert all("0xffffffff" not in e.source for e in edits(BELOW) if "column" in e.title)


@pytest.mark.parametrize(
    "loop",
    [
        "for (int j = 0; j < m; j++) { s += a[j * n + i]; o[j * n + i] = s; }",  # running sums
        "for (int j = 0; j < m; j++) s += a[i * m + j];",  # rows
        "for (int j = 0; j < m; j++) s = s * 0.5f + a[j * n + i];",
        "for (int j = 0; j < m; j++) { s += a[j * n + i]; if (s > 9) break; }",
    ],
)
def test_other_walks_are_not_taken_for_columns(loop: str) -> None:
    text = HEAD + EARLY + f"  float s = 0;\n  {loop}\n  o[i] = s;\n}}\n" + RUN
    assert not [e for e in edits(text) if "column" in e.title]


@pytest.mark.skipif(not emulator.AVAILABLE, reason="no g++")
def test_sums_of_columns_are_the_same(tmp_path: Path) -> None:
    main = r"""
  for (int m = 1; m < 70; m += 33) for (int n = 3; n < 80; n += 38) {
    std::vector<float> a(m * n), b(n), o(n);
    for (int i = 0; i < m * n; i++) a[i] = (i * 7) % 23 - 11;
    for (int i = 0; i < n; i++) b[i] = i % 5 + 1;
    run(a.data(), b.data(), o.data(), m, n);
    for (int i = 0; i < n; i++) printf("%.4f ", o[i]);
  }"""
    before = emulator.run(SUMS, main, tmp_path)
    for edit in (e for e in edits(SUMS) if "column" in e.title):
        assert emulator.run(edit.source, main, tmp_path) == before


DEEP = (
    "__global__ void k(const float *a, float *o, int w, int h, int d) {\n"
    "  int x = blockIdx.x * blockDim.x + threadIdx.x;\n  int y = blockIdx.y * blockDim.y + threadIdx.y;\n"
    "  if (x >= w || y >= h) return;\n"
    "  int c = x + y * w, plane = w * h, p = x;\n"
    "  for (int z = 0; z < d; ++z) {\n    int up = z == 0 ? c : c - plane;\n"
    "    o[c] = a[c] + a[up] * a[p];\n    c += plane; p += 2;\n  }\n}\n"
    "void run(float *a, float *o, int w, int h, int d) {\n"
    "  dim3 b(8, 4);\n  dim3 g((w + 7) / 8, (h + 3) / 4);\n  k<<<g, b>>>(a, o, w, h, d);\n}\n"
)
SYMMETRIC = (
    "#define M 37\n__global__ void k(const float *a, float *o) {\n"
    "  int j1 = blockIdx.x * blockDim.x + threadIdx.x;\n  int i, j2;\n  if (j1 < M)\n  {\n"
    "    for (j2 = j1; j2 < M; j2++)\n    {\n      o[j1*M + j2] = 0.0;\n"
    "      for (i = 0; i < 5; i++)\n        o[j1*M + j2] += a[i*M + j1] * a[i*M + j2];\n"
    "      o[j2*M + j1] = o[j1*M + j2];\n    }\n  }\n}\n"
    "void run(float *a, float *o) { k<<<2, 32>>>(a, o); }\n"
)


def test_layers_go_to_blocks_along_z_with_what_is_carried_along() -> None:
    text = edits(DEEP)[0].source
    assert "for (int z = blockIdx.z; z < d; z += gridDim.z)" in text
    assert "c += (int)blockIdx.z * plane;" in text
    assert "p += (int)gridDim.z * 2;" in text
    assert "k<<<dim3(g.x, g.y, 16), b>>>" in text or "(h + 3) / 4, 16);" in text


def test_both_halves_of_a_symmetric_matrix_are_elements_of_one_iteration() -> None:
    found = edits(SYMMETRIC)
    assert "for (j2 = j1 + (int)blockIdx.y; j2 < M; j2 += gridDim.y)" in found[0].source
    assert found[0].predicted is not None
    assert found[0].predicted > 2  # a loop inside makes it worth more


@pytest.mark.parametrize(
    "text",
    [
        DEEP.replace("c += plane;", "c += plane; plane++;"),
        DEEP.replace("c += plane;", "if (z % 2) c += plane;"),
        DEEP.replace("c += plane;", "c *= 2;"),
        DEEP.replace("p += 2;\n  }", "p += 2;\n  }\n  o[0] = a[p];"),
        DEEP.replace("a[up]", "o[up]"),  # the layer before
        DEEP.replace("o[c] =", "o[x] ="),
        DEEP.replace("(h + 3) / 4);", "(h + 3) / 4, 2);"),
        DEEP.replace("p = x;", "p = x + blockIdx.z;"),
        DEEP.replace("    o[c]", "    if (a[c] < 0) continue;\n    o[c]"),
        SYMMETRIC.replace("j2 = j1;", "j2 = 0;"),  # the other half is another thread's
        SYMMETRIC.replace("o[j2*M + j1]", "o[j2*M + j1 + 1]"),
        SYMMETRIC.replace("j2 < M;", "j2 <= M;"),
    ],
)
def test_iterations_that_meet_are_left_together(text: str) -> None:
    assert not [e for e in edits(text) if "of blocks" in e.title]


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
def test_layers_and_symmetric_matrices_are_the_same(tmp_path: Path) -> None:
    main = """
    for (int d : {1, 7, 20}) {
      int w = 9, h = 5, n = w * h * d;
      std::vector<float> a(n + 64), o(n + 64);
      for (int i = 0; i < n + 64; ++i) a[i] = i % 17;
      run(a.data(), o.data(), w, h, d);
      for (float v : o) printf("%g ", v);
    }"""
    assert emulator.run(edits(DEEP)[0].source, main, tmp_path) == emulator.run(DEEP, main, tmp_path)
    main = """
    std::vector<float> a(5 * 37), o(37 * 37);
    for (int i = 0; i < 5 * 37; ++i) a[i] = i % 17;
    run(a.data(), o.data());
    for (float v : o) printf("%g ", v);"""
    wanted = emulator.run(SYMMETRIC, main, tmp_path)
    assert emulator.run(edits(SYMMETRIC)[0].source, main, tmp_path) == wanted


BATCHES = (
    "__global__ void nearest(int n, int m, const float *__restrict__ xyz, const float *__restrict__ known,\n"
    "                        float *__restrict__ dist, int *__restrict__ idx) {\n"
    "  int batch = blockIdx.x;\n  xyz += batch * n;\n  known += batch * m;\n  dist += batch * n * 2;\n"
    "  idx += batch * n;\n  int index = threadIdx.x, stride = blockDim.x;\n  float best[2];\n"
    "  for (int j = index; j < n; j += stride) {\n    int at = 0;\n"
    "    for (int t = 0; t < 2; ++t) best[t] = 1e9f;\n    for (int k = 0; k < m; ++k) {\n"
    "      float d = fabsf(xyz[j] - known[k]);\n"
    "      if (d < best[0]) {\n        best[1] = best[0];\n        best[0] = d;\n        at = k;\n      }\n"
    "    }\n    for (int t = 0; t < 2; ++t) dist[j * 2 + t] = best[t];\n    idx[j] = at;\n  }\n}\n"
    "void run(int b, int n, int m, const float *x, const float *y, float *d, int *i) {\n"
    "  nearest<<<b, 64>>>(n, m, x, y, d, i);\n}\n"
)
PLANES = (
    "#define TOTAL 64\n"
    "__global__ void group(int c, int n, int m, const float *points, const int *idx, float *out) {\n"
    "  points += blockIdx.x * n * c;\n  idx += blockIdx.x * m;\n  out += blockIdx.x * m * c;\n"
    "  const int first = threadIdx.y * blockDim.x + threadIdx.x;\n"
    "  for (int i = first; i < c * m; i += blockDim.y * blockDim.x) {\n"
    "    const int l = i / m, j = i % m;\n    out[l * m + j] = points[l * n + idx[j]];\n  }\n}\n"
    "void run(int b, int c, int n, int m, const float *x, const int *i, float *o) {\n"
    "  dim3 threads(TOTAL / 4, 4);\n  group<<<dim3(b), threads>>>(c, n, m, x, i, o);\n}\n"
)


def strides(text: str) -> list[Edit]:
    return [e for e in split_loop(Kernel("run", text), []) if "strides" in e.title]


def test_what_a_block_strides_goes_to_rows_of_blocks_too() -> None:
    found = strides(BATCHES)
    assert len(found) == 2
    text = found[0].source
    assert "for (int j = index + blockIdx.y * stride; j < n; j += stride * gridDim.y) {" in text
    assert "nearest<<<dim3(b, 16), 64>>>" in text
    assert not strides(text)
    [edit] = strides(PLANES)
    assert "i = first + blockIdx.y * (blockDim.y * blockDim.x);" in edit.source
    assert "i += (blockDim.y * blockDim.x) * gridDim.y)" in edit.source
    assert "group<<<dim3(dim3(b).x, 16), threads>>>" in edit.source or "dim3(b, 16)" in edit.source


@pytest.mark.parametrize(
    "text",
    [
        BATCHES.replace("best[t] = 1e9f", "best[t] += 1e9f"),  # an iteration begins with the last's
        BATCHES.replace("t < 2; ++t) best", "t < 1; ++t) best"),
        BATCHES.replace("float best[2];", "float best[2]; int at = 0;").replace(
            "    int at = 0;\n", ""
        ),
        BATCHES.replace("idx[j] = at;", "idx[j] = at + index;"),  # a thread knows itself
        BATCHES.replace("idx[j] = at;", "idx[0] += at;"),
        BATCHES.replace("idx[j] = at;", "idx[j] = at;\n    xyz += 1;"),
        BATCHES.replace("idx[j] = at;", "if (atomicAdd(idx, 1) > 3) at = 1;\n    idx[j] = at;"),
        BATCHES.replace("  float best[2];", "  float best[2];\n  __syncthreads();"),
        BATCHES.replace("  float best[2];", "  float best[2];\n  dist[0] = 0;"),
        BATCHES.replace("<<<b, 64>>>", "<<<dim3(b, 3), 64>>>"),
        BATCHES.replace("<<<b, 64>>>", "<<<8192, 64>>>"),
        BATCHES.replace("int batch = blockIdx.x", "int batch = blockIdx.x + gridDim.y"),
        PLANES.replace("blockDim.y * blockDim.x)", "blockDim.x)"),
    ],
)
def test_strides_that_carry_something_or_know_their_threads_are_left_alone(text: str) -> None:
    assert text not in (BATCHES, PLANES)
    assert not strides(text)


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
def test_rows_of_blocks_stride_to_the_same_results(tmp_path: Path) -> None:
    main = (
        "int b = 2, n = 300, m = 9;\n"
        "std::vector<float> x(b * n), y(b * m), d(b * n * 2);\nstd::vector<int> at(b * n);\n"
        "for (size_t i = 0; i < x.size(); ++i) x[i] = (int)(i * 7 % 23);\n"
        "for (size_t i = 0; i < y.size(); ++i) y[i] = (int)(i * 5 % 19);\n"
        "run(b, n, m, x.data(), y.data(), d.data(), at.data());\n"
        'for (float v : d) std::printf("%g ", v);\nfor (int v : at) std::printf("%d ", v);'
    )
    wanted = emulator.run(BATCHES, main, tmp_path)
    assert emulator.run(strides(BATCHES)[1].source, main, tmp_path) == wanted


CENTRED = (
    "__global__ void centre(double *x, double *mean, int rows, int cols) {\n"
    "  int c = threadIdx.x + blockIdx.x * blockDim.x;\n  if (c >= cols) return;\n  double s = 0;\n"
    "  for (int r = 0; r < rows; r++) s += x[r * cols + c];\n  s /= rows;\n  mean[c] = s;\n"
    "  for (int r = 0; r < rows; r++) x[r * cols + c] -= s;\n}\n"
    "void run(double *x, double *m, int rows, int cols) {\n"
    "  centre<<<(cols + 63) / 64, 64>>>(x, m, rows, cols);\n}\n"
)
CHANNELS = (
    "__global__ void soft(const float *in, float *out, int n, int channels, int plane) {\n"
    "  const int index = blockIdx.x * blockDim.x + threadIdx.x;\n  if (index < n * plane) {\n"
    "    const int b = index / plane, p = index % plane;\n"
    "    const float *x = in + b * channels * plane + p;\n    float most = -1e30f, t = 0;\n"
    "    for (int c = 0; c < channels; ++c) most = fmaxf(most, x[c * plane]);\n"
    "    for (int c = 0; c < channels; ++c) t += expf(x[c * plane] - most);\n"
    "    for (int c = 0; c < channels; ++c)\n"
    "      out[(b * channels + c) * plane + p] = expf(x[c * plane] - most) / t;\n  }\n}\n"
    "void run(const float *x, float *y, int n, int c, int p) {\n"
    "  soft<<<(n * p + 127) / 128, 128>>>(x, y, n, c, p);\n}\n"
)


def columns(text: str) -> list[Edit]:
    return [e for e in split_loop(Kernel("run", text), []) if "each column" in e.title]


def test_lanes_that_sum_a_column_may_set_it_behind() -> None:
    for text in (CENTRED, CHANNELS):
        found = columns(text)
        assert len(found) == 2
        assert found[0].source.count("+= 4)") == text.count("for (int")
    assert "if (part == 0) mean[c] = s;" in columns(CENTRED)[0].source


@pytest.mark.parametrize(
    "text",
    [
        CENTRED.replace("x[r * cols + c] -= s", "x[r * cols + c] -= s * x[(r - 1) * cols + c]"),
        CENTRED.replace("x[r * cols + c] -= s", "x[r * cols + c] -= x[r * cols + cols - c]"),
        CENTRED.replace("x[r * cols + c] -= s", "x[c] -= s"),
        CENTRED.replace("r * cols + c]", "r + c * rows]"),  # rows: a warp each serves them better
        CENTRED.replace("x[r * cols + c] -= s", "x[r] -= s"),
        CENTRED.replace("r < rows; r++) x", "r < rows - 1; r++) x[r * cols + c + cols] ="
                        " x").replace("-= s", "- s"),
        CENTRED.replace("s += x[r * cols + c];\n  s /= rows;", "s += x[r * cols + c] = s;"),
    ],
)  # fmt: skip
def test_columns_whose_elements_depend_on_others_stay_with_one_thread(text: str) -> None:
    assert text != CENTRED
    assert not columns(text)


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
def test_columns_that_lanes_centre_are_the_same(tmp_path: Path) -> None:
    main = (
        "int rows = 37, cols = 70;\nstd::vector<double> x(rows * cols), m(cols);\n"
        "for (size_t i = 0; i < x.size(); ++i) x[i] = (int)(i * 7 % 23);\n"
        "run(x.data(), m.data(), rows, cols);\n"
        'for (double v : x) std::printf("%.6f ", v);\nfor (double v : m) std::printf("%.6f ", v);'
    )
    wanted = emulator.run(CENTRED, main, tmp_path)
    assert emulator.run(columns(CENTRED)[0].source, main, tmp_path) == wanted
