"""Launches as `Source` sees them: grids, blocks, and where their numbers are written."""

from __future__ import annotations

import pytest

from optimizer.model import Kernel
from optimizer.source import Source
from optimizer.tuning import tune
from tests.optimizer.cuda_texts import read


@pytest.mark.parametrize(
    ("body", "blocks"),
    [
        ("dim3 t; t = dim3(512, 1); k<<<9, t>>>(a);", [(512, 1)]),
        ("dim3 t; t = 64; t.y = 2; k<<<9, t>>>(a);", [(64, 2)]),
        ("dim3 t(8); t = dim3(64); for (;;) k<<<9, t>>>(a);", [(64,)]),
        (
            "dim3 t; t = dim3(512); k<<<9, t>>>(a); t = dim3(64); while (n--) { k<<<9, t>>>(a); }",
            [(512,), (64,)],
        ),
        ("dim3 t; t = dim3(512); for (;;) { k<<<9, t>>>(a); t = dim3(64); }", [None]),
        ("dim3 t; t = dim3(512); if (n) t = dim3(64); k<<<9, t>>>(a);", [None]),
        ("dim3 t; if (n) { t = dim3(64); } else { t = dim3(32); } k<<<9, t>>>(a);", [None]),
        ("dim3 t; t = dim3(64); change(&t); k<<<9, t>>>(a);", [None]),
        ("dim3 t; k<<<9, t>>>(a); t = dim3(64);", [None]),
    ],
)
def test_a_block_set_behind_its_declaration_is_what_it_surely_was_set_to_last(
    body: str, blocks: list[tuple[int, ...] | None]
) -> None:
    source = Source(
        "__global__ void k(float* a) { a[threadIdx.x] = 1; }\n"
        f"void run(float* a, int n) {{ {body} }}\n"
    )
    set_to = [launch.block for launch in source.launches]
    found = [None if block is None else tuple(one.value for one in block) for block in set_to]
    assert found == blocks


def test_launches_lead_to_their_literals() -> None:
    """A block extent tells its number and where that is written, through names."""
    source = Source(read("stencil_macros"))
    stencil, row_sum = source.launches
    assert stencil.block is not None
    assert [e.value for e in stencil.block] == [32, 8, 1]
    assert stencil.threads == 256
    first = stencil.block[0].literal
    assert first is not None
    assert source.text[first[0] - 8 : first[1]] == "BLOCK_X 32"
    assert row_sum.block is not None
    assert row_sum.block[0].defined == ("threads",)
    assert row_sum.threads == 128
    assert row_sum.shared_span is not None
    assert source.text[slice(*row_sum.shared_span)] == "threads * sizeof(float)"
    assert [source.of(a) for a in row_sum.arguments] == ["out", "sums", "w"]


def test_a_block_chosen_at_run_time_is_unknown() -> None:
    """A block size that a call fills in has no number and no literal."""
    source = Source(read("nbody_structs"))
    block = source.launches_of("bodyForce")[0].block
    assert block is not None
    assert (block[0].value, block[0].literal) == (None, None)


def test_other_mentions_of_a_kernel_are_told() -> None:
    """A kernel whose address is taken or that a CUDA function is given is not only launched."""
    source = Source(read("modern_attributes"))
    assert not source.only_launched("copy_scaled")
    assert not source.only_launched("sum_vectors")
    assert Source(read("saxpy_checked")).only_launched("saxpy")


PASSED = """\
__global__ void k(float *a) { a[threadIdx.x] = 0; }
static void run(float *a, int n, int threads) { k<<<(n + threads - 1) / threads, threads>>>(a); }
int main() {
  const int t = 128;
  float *a = 0;
  run(a, 4096, t);
  run(a, 100, 64 * 2);
}
"""

LATE = """\
__global__ void k(float *a, int n) { a[threadIdx.x] = n; }
void run(float *a, int n) {
  int threads, blocks;
  threads = 128;
  blocks = (n + threads - 1) / threads;
  auto shape = dim3(threads, 2);
  cudaOccupancyMaxPotentialBlockSize(&n, &n, k, 0, 0);
  k<<<blocks, threads>>>(a, n);
  k<<<blocks, shape>>>(a, n);
}
"""


def test_a_block_set_once_behind_its_declaration_is_seen_with_its_literal() -> None:
    source = Source(LATE)
    first, second = source.launches
    assert (first.threads, second.threads) == (128, 256)
    assert first.block is not None
    assert first.block[0].literal is not None
    assert LATE[slice(*first.block[0].literal)] == "128"
    assert first.block[0].defined == ("threads",)
    assert source.only_launched("k"), "to ask for its occupancy is no launch"
    assert {"128", "64"} & {
        e.source.partition("threads = ")[2].partition(";")[0] for e in tune(Kernel("k", LATE))
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  blocks =", "  if (n > 9) threads = 64;\n  blocks ="),
        ("  threads = 128;", "  if (n > 9) { threads = 128; }"),
        ("  threads = 128;", "  threads = n;"),
        ("  threads = 128;", "  scanf(&threads);"),
    ],
)
def test_a_block_that_may_have_several_values_is_not_seen(old: str, new: str) -> None:
    assert old in LATE
    assert Source(LATE.replace(old, new)).launches[0].threads is None


def test_a_grid_that_a_function_returns_has_three_extents() -> None:
    source = Source(
        "dim3 shape(int n) { return dim3(n, 2); }\nint count(int n) { return n; }\n"
        "__global__ void k(float *a) { a[0] = 0; }\n"
        "void run(float *a, int n) {\n  dim3 grid = shape(n), other = shape(n);\n  other.x = 3;\n"
        "  k<<<shape(n), 64>>>(a);\n  k<<<grid, 64>>>(a);\n  k<<<other, 64>>>(a);\n"
        "  k<<<count(n), 64>>>(a);\n}\n"
    )
    grids = [launch.grid for launch in source.launches]
    assert [g and [e.text for e in g] for g in grids] == [
        ["shape(n).x", "shape(n).y", "shape(n).z"],
        ["shape(n).x", "shape(n).y", "shape(n).z"],
        None,
        ["count(n)"],
    ]


def test_a_block_that_all_callers_pass_is_seen() -> None:
    launch = Source(PASSED).launches[0]
    assert launch.threads == 128
    assert launch.block is not None
    assert launch.block[0].literal is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("64 * 2", "64"),
        ("64 * 2", "a != 0"),
        ("int main() {", "int main() {\n  auto f = run;"),
        ("k<<<", "threads += 1; k<<<"),
        ("int main() {", "void other() {"),
        ("  run(a, 100, 64 * 2);", "  run(a, 100);"),
    ],
)
def test_a_block_that_callers_pass_differently_is_not_seen(old: str, new: str) -> None:
    text = PASSED.replace("static ", "") if "other" in new else PASSED
    assert old in text
    assert Source(text.replace(old, new)).launches[0].threads is None


@pytest.mark.parametrize("parameter", ["dim3 block", "const dim3& block", "dim3 block = 64"])
def test_a_block_that_callers_give_is_not_known(parameter: str) -> None:
    """A dim3 without a value is one thread where it is a local, and anything as a parameter."""
    kernel = "__global__ void k(float* x) { x[threadIdx.x] = 1; }\n"
    (launch,) = Source(f"{kernel}void run({parameter}) {{ k<<<4, block>>>(nullptr); }}").launches
    assert launch.block is None
    (launch,) = Source(kernel + "void run() { dim3 block; k<<<4, block>>>(nullptr); }").launches
    assert launch.block is not None
    assert [extent.value for extent in launch.block] == [1]


MEMBERS = """\
struct Config { int threads; int blocks; dim3 tile; };
__global__ void k(float *x);
void run(float *x) {
  Config cfg, other;
  cfg.threads = 128;
  cfg.tile = dim3(16, 8);
  other.threads = 64;
  cfg.blocks = 8 * other.threads;
  dim3 block(32, 4), grid(1024 / block.x, 64 / block.y);
  k<<<cfg.blocks, cfg.threads>>>(x);
  k<<<grid, cfg.tile>>>(x);
}
"""


def test_geometry_in_members_of_a_struct_is_seen() -> None:
    one, two = Source(MEMBERS).launches
    assert [[e.value for e in part or ()] for part in (one.grid, one.block)] == [[512], [128]]
    assert [[e.value for e in part or ()] for part in (two.grid, two.block)] == [[32, 16], [16, 8]]
    assert [e.text for e in two.block or ()] == ["cfg.tile.x", "cfg.tile.y"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  cfg.threads = 128;", "  cfg.threads = 128; cfg.threads = 64;"),
        ("  cfg.threads = 128;", "  if (x) { cfg.threads = 128; }"),
        ("  cfg.threads = 128;", "  cfg.threads = 128; fill(&cfg);"),
        ("  cfg.threads = 128;", "  cfg.threads = 128; cfg = other;"),
        ("  cfg.threads = 128;", "  cfg.threads += 128;"),
        ("Config cfg,", "Config &cfg = config(),"),
    ],
)
def test_members_that_may_be_something_else_are_not_seen(old: str, new: str) -> None:
    one, _ = Source(MEMBERS.replace(old, new)).launches
    assert one.threads is None
