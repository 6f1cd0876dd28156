"""A warp for a row."""

from __future__ import annotations

from pathlib import Path

import pytest

from optimizer.model import Edit, Kernel, Launch
from optimizer.rules.block_per_row import block_per_row
from optimizer.rules.warp_per_row import warp_per_row
from tests.optimizer.rules import emulator

HEAD = "__global__ void k(const float *a, float *o, const int *p, int rows, int cols) {\n"
ROW = "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= rows) return;\n"
RUN = (
    "void run(float *a, float *o, int *p, int r, int c) {\n"
    "  int threads = 128;\n  k<<<(r + 127) / 128, threads>>>(a, o, p, r, c);\n}\n"
)


def edits(body: str, run: str = RUN, row: str = ROW, launch: Launch | None = None) -> list[Edit]:
    return list(warp_per_row(Kernel("k", HEAD + row + body + "}\n" + run, "k.cu", launch), []))


def only(body: str) -> str:
    edit, *_ = edits(body)
    return edit.source


SUM = "  float s = 0;\n  for (int j = 0; j < cols; ++j) s += a[row * cols + j];\n  o[row] = s;\n"


def test_rows_behind_a_pointer_in_a_struct_go_to_warps() -> None:
    text = (
        "typedef struct { int width, height; float *elements; } Matrix;\n"
        "__global__ void product(Matrix A, const float *x, float *y) {\n"
        "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row >= A.height) return;\n"
        "  float sum = 0.0f;\n"
        "  for (int j = 0; j < A.width; j++) sum += A.elements[row * A.width + j] * x[j];\n"
        "  y[row] = sum;\n}\n"
        "void run(Matrix A, const float *x, float *y) {\n"
        "  product<<<(A.height + 127) / 128, 128>>>(A, x, y);\n}\n"
    )
    edit, *_ = warp_per_row(Kernel("run", text), [])
    assert "for (int j = lane; j < A.width; j += 32)" in edit.source
    assert "if (lane == 0) y[row] = sum;" in edit.source
    assert not list(warp_per_row(Kernel("run", text.replace("y[row] =", "A.elements[row] =")), []))


def test_a_sum_is_strided_over_lanes_and_combined_by_shuffles() -> None:
    text = only(SUM)
    assert (
        "int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;\n  int lane = threadIdx.x % 32;"
        in text
    )
    assert "for (int j = lane; j < cols; j += 32) s += a[row * cols + j];" in text
    assert "s += __shfl_xor_sync(0xffffffff, s, offset);" in text
    assert "if (lane == 0) o[row] = s;" in text
    assert "k<<<(r + 127) / 128 * 32, threads>>>" in text


def test_a_first_value_that_is_not_neutral_counts_once() -> None:
    text = only(
        "  float s = a[row];\n  for (int j = 0; j < cols; ++j) s += a[row * cols + j];\n  o[row] = s;\n"
    )
    assert "if (lane > 0) s = 0;" in text


@pytest.mark.parametrize(
    ("update", "wanted"),
    [
        ("if (a[row * cols + j] > s) s = a[row * cols + j];", "s = fmaxf(s, __shfl"),
        ("s = fminf(s, a[row * cols + j]);", "s = fminf(s, __shfl"),
        ("s = a[row * cols + j] < s ? a[row * cols + j] : s;", "s = fminf(s, __shfl"),
        ("s = s + a[row * cols + j];", "s += __shfl"),
        ("s *= a[row * cols + j];", "s *= __shfl"),
    ],
)
def test_each_reduction_is_combined_by_its_own_operation(update: str, wanted: str) -> None:
    text = only(f"  float s = 1e30f;\n  for (int j = 0; j < cols; ++j) {update}\n  o[row] = s;\n")
    assert wanted in text


def test_rows_without_sums_name_no_peers() -> None:
    body = "  for (int j = 0; j < cols; ++j) o[row * cols + j] = a[row * cols + j] * 2;\n"
    found = edits(body)
    assert len(found) == 3
    assert not any("peers" in e.source for e in found)


def test_an_extreme_and_its_place_are_joined_together() -> None:
    body = (
        "  float best = -1e30f;\n  int at = 0;\n"
        "  for (int j = 0; j < cols; ++j) {\n    float v = a[row * cols + j];\n"
        "    if (v > best) { best = v; at = j; }\n  }\n  o[row] = at;\n"
    )
    text = only(body)
    assert "const int at_there = __shfl_xor_sync(0xffffffff, at, offset);" in text
    assert "if (best_there > best || (best_there == best && at_there < at)) {" in text
    assert "if (lane == 0) o[row] = at;" in text
    assert edits(body.replace("at = j;", "at = cols - j;")) == []
    assert edits(body.replace("v > best", "v >= best")) == []


def test_rows_of_a_sparse_matrix_start_where_the_row_starts() -> None:
    text = only(
        "  float s = 0.f;\n  for (int j = p[row]; j < p[row + 1]; j++) s += a[j];\n  o[row] = s;\n"
    )
    assert "for (int j = p[row] + lane; j < p[row + 1]; j += 32)" in text


def test_an_independent_map_over_the_row_needs_no_shuffle() -> None:
    text = only("  for (int j = 0; j < cols; j++) o[row * cols + j] = a[row * cols + j] * 2.f;\n")
    assert "j = lane; j < cols; j += 32" in text
    assert "__shfl" not in text


STRIDED = (
    "  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < rows; row += blockDim.x * gridDim.x) {\n"
    "    float s = 0;\n    for (int j = p[row]; j < p[row + 1]; j++) s += a[j];\n    o[row] = s;\n  }\n"
)


def test_rows_a_grid_apart_are_stepped_through_by_warps() -> None:
    edit, *_ = edits(STRIDED, row="")
    assert "for (int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; row < rows;" in edit.source
    assert "row += blockDim.x * gridDim.x / 32) {" in edit.source
    assert "  int lane = threadIdx.x % 32;\n  for (int row" in edit.source
    assert "<<<(r + 127) / 128 * 32, threads>>>" in edit.source
    fixed, *_ = edits(STRIDED, row="", run=RUN.replace("(r + 127) / 128", "256"))
    assert "<<<256, threads>>>" in fixed.source


def test_rows_a_grid_apart_may_be_counted_by_locals() -> None:
    named = STRIDED.replace("row = blockIdx.x * blockDim.x + threadIdx.x", "row = tid")
    named = named.replace("row += blockDim.x * gridDim.x", "row += stride")
    row = "  int tid = blockIdx.x * blockDim.x + threadIdx.x;\n  int stride = gridDim.x * blockDim.x;\n"
    edit, *_ = edits(named, row=row)
    assert "for (int row = (tid) / 32; row < rows; row += stride / 32) {" in edit.source
    assert not edits(named.replace("s += a[j]", "s += a[j + tid]"), row=row)


def test_a_counter_declared_outside_the_loops_is_no_result() -> None:
    text = only(
        "  int j;\n  float s = 0, t = 0;\n  for (j = 0; j < cols; j++) s += a[row * cols + j];\n"
        "  for (j = 0; j < cols; j++) t += a[row * cols + j] * s;\n  o[row] = t;\n"
    )
    assert text.count("for (j = lane; j < cols; j += 32)") == 2
    assert not edits(
        "  int j;\n  float s = 0;\n  for (j = 0; j < cols; j++) s += a[row * cols + j];\n  o[row] = s * j;\n"
    )


@pytest.mark.parametrize(
    "body",
    [
        "  float s = o[row];\n  for (int j = 0; j < cols; ++j) s += a[row * cols + j];\n  o[row] = s;\n",
        "  float s = 0;\n  for (int j = 0; j < cols; ++j) s += a[row * cols + j];\n  o[row] = s + 2 * o[row];\n",
        "  float s = 0;\n  for (int j = 0; j < cols; ++j) s += a[row * cols + j];\n  o[row] += s;\n",
    ],
)
def test_the_result_may_be_read_before_lane_zero_writes_it(body: str) -> None:
    assert "if (lane == 0) o[row]" in only(body)


def test_rows_of_several_matrices_may_lie_along_the_grids_y() -> None:
    edit, *_ = edits(
        "  const float *m = &a[(size_t)blockIdx.y * rows * cols + (size_t)row * cols];\n  float s = 0;\n"
        "  for (int j = 0; j < cols; ++j) s += m[j];\n  o[blockIdx.y * rows + row] = s;\n",
        run=RUN.replace("(r + 127) / 128", "dim3(r / 128, 8)"),
    )
    assert "dim3(r / 128 * 32, 8)" in edit.source


def test_a_workloads_launch_changes_only_where_the_caller_may() -> None:
    grid = Launch(("(rows+127)/128",), ("128",), tunable=True)
    edit, *_ = edits(SUM, run="", launch=grid)
    assert edit.launch is not None
    assert edit.launch.grid == ("(rows+127)/128 * 32",)
    assert not edits(SUM, run="", launch=Launch(grid.grid, grid.block))


@pytest.mark.parametrize(
    "body",
    [
        # neighbours already read neighbours
        "  float s = 0;\n  for (int j = 0; j < cols; ++j) s += a[j * rows + row];\n  o[row] = s;\n",
        # a recurrence
        "  for (int j = 1; j < cols; ++j) o[row * cols + j] = o[row * cols + j - 1] + a[row * cols + j];\n",
        # not a reduction
        "  float s = 0;\n  for (int j = 0; j < cols; ++j) s = s * 0.5f + a[row * cols + j];\n  o[row] = s;\n",
        # read inside
        "  float s = 0;\n  for (int j = 0; j < cols; ++j) { s += a[row * cols + j]; o[row * cols + j] = s; }\n",
        # leaves early
        "  float s = 0;\n  for (int j = 0; j < cols; ++j) { if (s > 9) break; s += a[row * cols + j]; }\n  o[row] = s;\n",
        # the thread's number is used elsewhere
        "  float s = threadIdx.x;\n  for (int j = 0; j < cols; ++j) s += a[row * cols + j];\n  o[row] = s;\n",
        # one element for all iterations
        "  for (int j = 0; j < cols; ++j) o[row] = a[row * cols + j];\n",
        # another lane's element is read later
        (
            "  for (int j = 0; j < cols; ++j) o[row * cols + j] = a[row * cols + j];\n"
            "  float s = 0;\n  for (int j = 0; j < cols; ++j) s += o[row * cols + cols - 1 - j];\n  o[row * cols] = s;\n"
        ),
        "  __shared__ float t[128];\n" + SUM,
        # every lane reads what lane 0 wrote
        SUM
        + "  float t = o[row];\n  for (int j = 0; j < cols; ++j) o[rows + row * cols + j] = t;\n",
    ],
)
def test_what_is_no_reduction_or_map_is_left_alone(body: str) -> None:
    assert edits(body) == []


@pytest.mark.parametrize(
    "run",
    [
        RUN.replace("128;", "100;"),
        RUN.replace("int threads = 128;", "dim3 threads(64, r);"),
        RUN.replace("threads = 128;", "threads = 32;").replace(", threads", ", dim3(32, 2)"),
        "",
    ],
)
def test_blocks_that_may_split_a_warp_and_unknown_launches_are_left_alone(run: str) -> None:
    assert edits(SUM, run=run) == []


def test_the_result_comes_to_rest() -> None:
    assert not list(warp_per_row(Kernel("k", only(SUM)), []))


WHILE = """\
__global__ void rows(const float *a, const float *b, float *o, int m, int n)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    unsigned int j;
    float sum = b[0];
    if (i < n) {
        j = 0;
        while (j < m) {
            sum += a[i * m + j] * b[j];
            j++;
        }
        int k = 1;
        while (k < m) {
            sum += a[i * m + k];
            k += 1;
        }
        o[i] = sum;
    }
}
void run(const float *a, const float *b, float *o, int m, int n) {
    rows<<<(n + 63) / 64, 64>>>(a, b, o, m, n);
}
"""


def test_a_while_that_counts_is_shared_like_a_for() -> None:
    edit, *_ = warp_per_row(Kernel("run", WHILE), [])
    assert "j = lane;\n" in edit.source
    assert "j += 32;\n" in edit.source
    assert "int k = 1 + lane;" in edit.source
    assert "k += 32;\n" in edit.source
    later = WHILE.replace("o[i] = sum;", "o[i] = sum + j;")
    assert all("j += 32" not in e.source for e in warp_per_row(Kernel("run", later), []))


@pytest.mark.skipif(not emulator.AVAILABLE, reason="no g++")
def test_rows_walked_by_while_are_summed_alike(tmp_path: Path) -> None:
    main = r"""
  for (int m : {1, 31, 70}) {
    int n = 5; std::vector<float> a(n * m), b(m), o(n);
    for (int i = 0; i < n * m; i++) a[i] = i % 13 - 6;
    for (int i = 0; i < m; i++) b[i] = i % 3;
    run(a.data(), b.data(), o.data(), m, n);
    for (float v : o) printf("%g ", v);
  }"""
    before = emulator.run(WHILE, main, tmp_path)
    for rule in (warp_per_row, block_per_row):
        for edit in rule(Kernel("run", WHILE), []):
            assert emulator.run(edit.source, main, tmp_path) == before


def test_rows_that_may_be_short_are_given_to_fewer_lanes_too() -> None:
    found = edits(SUM)
    assert [e.title.rpartition("to ")[2] for e in found] == ["a warp", "8 lanes", "16 lanes"]
    text = found[1].source
    assert "int row = (blockIdx.x * blockDim.x + threadIdx.x) / 8;" in text
    assert "unsigned int peers = 0xffu << (threadIdx.x % 32 - lane);" in text
    assert "for (int j = lane; j < cols; j += 8) s += a[row * cols + j];" in text
    assert "for (int offset = 4; offset > 0; offset /= 2)" in text
    assert "s += __shfl_xor_sync(peers, s, offset);" in text
    assert "k<<<(r + 127) / 128 * 8, threads>>>" in text
    assert len(edits(SUM.replace("cols", "512"))) == 1, "a warp has work for 512 elements"


IN_PLACE = (
    "__global__ void k(float *a, float *o, const int *p, int rows, int cols) {\n"
    "  int row = blockIdx.x * blockDim.x + threadIdx.x;\n  if (row < rows) {\n"
    "    float *x = a + row * cols;\n    float most = x[0], s = 0.f;\n"
    "    for (int j = 1; j < cols; j++) most = fmaxf(most, x[j]);\n"
    "    for (int j = 0; j < cols; j++) {\n      x[j] = expf(x[j] - most);\n      s += x[j];\n    }\n"
    "    for (int j = 0; j < cols; j++) x[j] /= s;\n  }\n}\n" + RUN
)


def test_a_row_may_be_overwritten_once_all_lanes_have_met_behind_reading_it() -> None:
    for rule in (warp_per_row, block_per_row):
        assert list(rule(Kernel("k", IN_PLACE), []))
    met = IN_PLACE.replace("most = fmaxf(most, x[j]);", "o[row * cols + j] = x[j - 1];")
    for rule in (warp_per_row, block_per_row):  # nothing joins the lanes before x[j] is set
        assert not list(rule(Kernel("k", met), []))
    again = IN_PLACE.replace("float *x", "for (int t = 0; t < 3; t++) {\n    float *x")
    again = again.replace("x[j] /= s;", "x[j] /= s;\n    }")
    for rule in (warp_per_row, block_per_row):  # the next round reads x[0] beside the last's stores
        assert not list(rule(Kernel("k", again), []))


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
def test_rows_overwritten_by_lanes_are_the_same(tmp_path: Path) -> None:
    main = (
        "std::vector<float> a(7 * 45), o(1);\nint p = 0;\n"
        "for (size_t i = 0; i < a.size(); ++i) a[i] = (float)(i * 7 % 13) / 5;\n"
        'run(a.data(), o.data(), &p, 7, 45);\nfor (float v : a) std::printf("%.4f ", v);'
    )
    wanted = emulator.run(IN_PLACE, main, tmp_path)
    edit, *_ = warp_per_row(Kernel("k", IN_PLACE), [])
    assert emulator.run(edit.source, main, tmp_path) == wanted


def test_rows_may_be_numbered_through_a_plane_of_blocks() -> None:
    row = "  int row = (blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x;\n"
    row += "  if (row >= rows) return;\n"
    run = RUN.replace("(r + 127) / 128", "dim3((r + 127) / 128, 2)")
    edit, *_ = edits(SUM, run, row)
    number = "(blockIdx.x + blockIdx.y * gridDim.x) * blockDim.x + threadIdx.x"
    assert f"int row = ({number}) / 32;" in edit.source
    assert "k<<<dim3((r + 127) / 128 * 32, 2), threads>>>" in edit.source
    text = HEAD + row + SUM + "}\n" + run
    assert not list(block_per_row(Kernel("k", text), []))


ASKED = (
    "void run(float *a, float *o, int *p, int r, int c, int threads) {\n"
    "  const int blocks = (r + threads - 1) / threads;\n"
    "  k<<<blocks, threads>>>(a, o, p, r, c);\n}\n"
)


def test_blocks_whose_size_only_the_program_knows_are_rounded_up_to_warps() -> None:
    edit, *_ = edits(SUM, ASKED)
    assert "k<<<blocks * 32, (threads + 31) / 32 * 32>>>" in edit.source
    least = ASKED.replace("blocks, threads>>>", "blocks, r < 256 ? r : 256>>>")
    edit, *_ = edits(SUM, least)
    assert "k<<<blocks * 32, ((r < 256 ? r : 256) + 31) / 32 * 32>>>" in edit.source
    plane = ASKED.replace("blocks, threads>>>", "blocks, dim3(threads, 1, 1)>>>")
    edit, *_ = edits(SUM, plane)
    assert "k<<<blocks * 32, (threads + 31) / 32 * 32>>>" in edit.source


@pytest.mark.parametrize(
    ("run", "row"),
    [
        (ASKED.replace("blocks, threads>>>", "blocks, dim3(threads, threads)>>>"), ROW),
        (
            ASKED.replace("(a, o, p, r, c);", "(a, o, p, r, c);\n  k<<<1, 48>>>(a, o, p, r, c);"),
            ROW,
        ),
        (ASKED, ROW.replace("* blockDim.x", "* 96")),
        (ASKED.replace("  k<<<", "  auto f = k;\n  k<<<"), ROW),
        ("", ROW),
    ],
)
def test_blocks_that_are_no_row_or_known_otherwise_are_not_rounded(run: str, row: str) -> None:
    assert not edits(SUM, run, row)


@pytest.mark.skipif(not emulator.AVAILABLE, reason="g++ is not installed")
def test_rows_of_rounded_blocks_are_summed_alike(tmp_path: Path) -> None:
    text = HEAD + ROW + SUM + "}\n" + ASKED
    main = (
        "std::vector<float> a(9 * 37), o(9);\nint p = 0;\n"
        "for (size_t i = 0; i < a.size(); ++i) a[i] = (int)(i * 7 % 13) - 6;\n"
        "for (int threads : {1, 5, 33}) {\n  run(a.data(), o.data(), &p, 9, 37, threads);\n"
        '  for (float v : o) std::printf("%g ", v);\n}'
    )
    wanted = emulator.run(text, main, tmp_path)
    edit, *_ = warp_per_row(Kernel("k", text), [])
    assert emulator.run(edit.source, main, tmp_path) == wanted
