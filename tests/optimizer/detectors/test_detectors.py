"""Each detector fires on a recorded kernel with its bottleneck, and not on the one without."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from optimizer import counters, plugins
from optimizer.evidence import MicroProfiler
from optimizer.model import Finding, Kernel, Resources, Status, Verdict
from tests.optimizer.detectors.recorded import KERNEL, line_of, recording, verdict

DETECTORS = plugins.detectors()
DOCUMENT = Path(__file__).parents[3] / "docs" / "writing-a-detector.md"
REMEDIES = frozenset(
    [
        "block-size",
        "more-blocks",
        "interleave",
        "coarsen",
        "warp-per-row",
        "hoist",
        "reciprocal",
        "carry-digits",
        "register-accumulator",
        "vectorize",
        "split-border",
        "specialize",
        "unroll",
        "shuffle-reduce",
        "shuffle-tree",
        "shuffle-scan",
        "scan-loop",
        "privatize-atomics",
        "split-loop",
        "share-loop",
        "swap-axes",
        "narrow-index",
        "fast-division",
        "tile-halo",
        "rotate-planes",
        "tile-matmul",
        "local-array",
        "fuse-launches",
        "fast-math",
        "restrict",
        "pad-shared",
        "stage-transpose",
        "launch-bounds",
        "float-literals",
        "read-only-cache",
        "ilp",
        "tune",
    ]
)

# detector: (fires on, silent on)
PAIRS = {
    "uncoalesced-access": ("row_sum_strided transpose_naive gather_random", "row_sum_warp saxpy transpose_padded"),
    "l1-misses": ("gather_random pointer_chase", "saxpy row_sum_warp shuffle_reduce"),
    "dram-saturated": ("saxpy_vector", "saxpy many_blocks row_sum_strided"),
    "occupancy-limiter": ("low_occupancy register_heavy", "saxpy matmul_tiled long_blocks"),
    "register-pressure": ("spilling register_heavy", "local_array saxpy slow_math matmul_wmma"),
    "warp-stall": ("pointer_chase low_occupancy brighten_bytes", "many_blocks saxpy_vector uniform_trips"),
    "bank-conflicts": ("transpose_conflict matmul_tiled", "transpose_padded histogram_private shuffle_reduce"),
    "tiling-chance": ("matmul_naive blur_naive", "matmul_tiled saxpy row_sum_strided transpose_padded"),
    "vectorizable-access": ("saxpy brighten_bytes float_literals", "saxpy_vector shuffle_reduce row_sum_strided gather_random"),
    "tensor-chance": ("matmul_naive matmul_tiled", "matmul_wmma blur_naive many_blocks row_sum_warp saxpy"),
    "double-precision": ("double_literals", "float_literals slow_math saxpy"),
    "integer-division": ("integer_division index_heavy", "saxpy float_literals blur_naive"),
    "slow-arithmetic": ("slow_math", "fast_math saxpy integer_division tree_reduce"),
    "atomics-contention": ("histogram_global", "histogram_private shuffle_reduce saxpy"),
    "divergence": ("divergent serial_thread", "uniform_trips saxpy tree_reduce"),
    "serial-thread": ("serial_thread", "shuffle_reduce histogram_private tree_reduce saxpy"),
    "tree-reduction": ("tree_reduce", "shuffle_reduce transpose_padded matmul_tiled row_sum_warp"),
    "tail-effect": ("long_blocks", "many_blocks saxpy row_sum_warp"),
    "small-grid": ("small_grid row_sum_strided", "many_blocks saxpy long_blocks row_sum_warp"),
    "launch-overhead": ("tiny", "serial_thread saxpy small_grid"),
    "index-arithmetic": ("index_heavy integer_division", "saxpy float_literals many_blocks matmul_tiled"),
    "issue-bound": ("many_blocks uniform_trips", "saxpy pointer_chase matmul_naive"),
    "local-array": ("local_array", "slow_math spilling register_heavy saxpy"),
    "global-accumulator": ("accumulate_global", "row_sum_strided matmul_naive saxpy"),
    "read-only-data": ("saxpy", "many_blocks long_blocks tiny"),
    "block-shape": ("tiny", "saxpy matmul_wmma pointer_chase"),
}  # fmt: skip
FIRES = [(d, k) for d, (bad, _) in PAIRS.items() for k in bad.split()]
SILENT = [(d, k) for d, (_, good) in PAIRS.items() for k in good.split()]


def found(detector: str, seen: Verdict, kernel: Kernel = KERNEL) -> list[Finding]:
    return list(DETECTORS[detector](kernel, seen))


@pytest.mark.parametrize(("detector", "kernel"), FIRES)
def test_it_fires_on_a_recorded_kernel_with_its_bottleneck(detector: str, kernel: str) -> None:
    (finding,) = found(detector, verdict(kernel))
    assert finding.detector == detector
    assert finding.subject == kernel
    assert finding.advice
    assert finding.message
    assert finding.expected is not None
    assert 1.0 <= finding.expected <= 8.0
    assert 0.0 < finding.confidence <= 1.0
    assert not finding.blocking
    assert finding.line is not None
    assert set(finding.remedies) <= REMEDIES
    assert all(value == value for value in finding.counters.values())  # noqa: PLR0124 - no NaN


@pytest.mark.parametrize(("detector", "kernel"), SILENT)
def test_it_is_silent_on_a_recorded_kernel_without_its_bottleneck(
    detector: str, kernel: str
) -> None:
    assert found(detector, verdict(kernel)) == []


def test_barriers_that_hold_warps_for_a_third_of_their_time_are_found() -> None:
    """No recorded kernel waits that long: the counter of a tree reduction is raised to it."""
    barrier = counters.stall("barrier")
    assert found("barrier-stall", verdict("tree_reduce")) == []
    assert found("barrier-stall", verdict("transpose_padded")) == []
    (finding,) = found("barrier-stall", verdict("tree_reduce", {barrier: 12.0}))
    assert "shuffle-reduce" in finding.remedies


def test_every_registered_detector_is_tested_and_no_other() -> None:
    before = {"impossible-launch", "static-shared"}
    timeline = {"launch-gaps"}  # no such counters in the recording; tests of its own
    ours = {name for name, d in DETECTORS.items() if isinstance(d, MicroProfiler)}
    assert ours == set(PAIRS) | before | timeline | {"barrier-stall"}


@pytest.mark.parametrize("name", sorted(DETECTORS))
def test_every_detector_is_documented_and_named_like_its_entry_point(name: str) -> None:
    assert re.search(rf"^\| `{name}` \|", DOCUMENT.read_text(), re.MULTILINE)
    detector = DETECTORS[name]
    assert isinstance(detector, MicroProfiler)
    assert detector.name == name


@pytest.mark.parametrize("name", sorted(DETECTORS))
def test_it_says_nothing_about_a_verdict_that_knows_nothing(name: str) -> None:
    assert found(name, Verdict(Status.CORRECT)) == []
    assert found(name, Verdict(Status.DOES_NOT_COMPILE), Kernel("k", "int main( {")) == []


@pytest.mark.parametrize("kernel", sorted(recording()["kernels"]))
def test_counters_without_a_readable_source_are_diagnosed_all_the_same(kernel: str) -> None:
    for name in DETECTORS:
        for finding in found(name, verdict(kernel), Kernel("k", "#include <nothing>\nvoid f( {")):
            assert finding.subject == kernel


@pytest.mark.parametrize(
    ("detector", "kernel"),
    [
        ("uncoalesced-access", "row_sum_strided"),
        ("bank-conflicts", "transpose_conflict"),
        ("register-pressure", "spilling"),
        ("tensor-chance", "matmul_naive"),
        ("double-precision", "double_literals"),
        ("integer-division", "integer_division"),
        ("slow-arithmetic", "slow_math"),
        ("atomics-contention", "histogram_global"),
        ("serial-thread", "serial_thread"),
        ("tree-reduction", "tree_reduce"),
        ("local-array", "local_array"),
        ("global-accumulator", "accumulate_global"),
        ("occupancy-limiter", "low_occupancy"),
        ("vectorizable-access", "saxpy"),
        ("index-arithmetic", "index_heavy"),
    ],
)
def test_without_counters_it_sees_the_same_from_sass_and_source_but_is_less_sure(
    detector: str, kernel: str
) -> None:
    (blind,) = found(detector, verdict(kernel, counters=False))
    (seeing,) = found(detector, verdict(kernel))
    assert blind.confidence < seeing.confidence


@pytest.mark.parametrize(
    ("detector", "kernel"),
    [
        ("uncoalesced-access", "row_sum_warp"),
        ("bank-conflicts", "transpose_padded"),
        ("register-pressure", "saxpy"),
        ("tensor-chance", "matmul_wmma"),
        ("double-precision", "float_literals"),
        ("slow-arithmetic", "fast_math"),
        ("atomics-contention", "histogram_private"),
        ("tree-reduction", "shuffle_reduce"),
        ("global-accumulator", "row_sum_strided"),
        ("vectorizable-access", "saxpy_vector"),
    ],
)
def test_without_counters_it_stays_silent_on_the_better_kernel(detector: str, kernel: str) -> None:
    assert found(detector, verdict(kernel, counters=False)) == []


@pytest.mark.parametrize(
    ("detector", "kernel", "text"),
    [
        ("uncoalesced-access", "row_sum_strided", "for (int c = 0; c < cols; ++c) s +="),
        ("global-accumulator", "accumulate_global", "for (int k = 0; k < terms; ++k) out[i] +="),
        ("double-precision", "double_literals", "v = v * 0.9 + 0.1 * v * v"),
        ("atomics-contention", "histogram_global", "atomicAdd(&bins[in[i] & 15], 1)"),
        ("serial-thread", "serial_thread", "for (int k = 0; k < 256; ++k) s += part[k]"),
    ],
)
def test_it_points_at_the_line(detector: str, kernel: str, text: str) -> None:
    (finding,) = found(detector, verdict(kernel))
    assert finding.line == line_of(text)


def test_rows_read_by_one_thread_each_ask_for_a_warp_per_row_first() -> None:
    (rows,) = found("uncoalesced-access", verdict("row_sum_strided"))
    (columns,) = found("uncoalesced-access", verdict("transpose_naive"))
    assert rows.remedies[0] == "warp-per-row"
    assert columns.remedies[0] == "stage-transpose"


def test_the_promised_gain_of_what_was_recorded_both_ways_has_the_right_size() -> None:
    """Factor recorded between bad and good kernel against the promise: within a factor of three."""
    pairs = {
        ("uncoalesced-access", "row_sum_strided"): "row_sum_warp",
        ("uncoalesced-access", "transpose_naive"): "transpose_padded",
        ("bank-conflicts", "transpose_conflict"): "transpose_padded",
        ("double-precision", "double_literals"): "float_literals",
        ("tiling-chance", "matmul_naive"): "matmul_tiled",
    }
    times = {k: v["counters"][counters.TIME_NS] for k, v in recording()["kernels"].items()}
    for (detector, bad), good in pairs.items():
        (finding,) = found(detector, verdict(bad))
        assert finding.expected is not None
        assert 1 / 3 < finding.expected / (times[bad] / times[good]) < 3, (detector, bad)


def test_occupancy_names_the_resource_that_runs_out() -> None:
    (shared,) = found("occupancy-limiter", verdict("low_occupancy"))
    (registers,) = found("occupancy-limiter", verdict("register_heavy"))
    assert shared.message.startswith("shared memory")
    assert registers.message.startswith("registers")


def test_warp_stall_is_critical_above_60_percent_and_has_a_cure_of_its_own_for_each_reason() -> (
    None
):
    (finding,) = found("warp-stall", verdict("pointer_chase"))
    assert finding.severity == "critical"
    waits = {counters.stall(r): 0.0 for r in counters.STALL_REASONS}
    quiet = {counters.DRAM_PCT: 5.0, counters.L2_PCT: 5.0, counters.L1_PCT: 5.0}
    advice = set()
    for reason in set(counters.STALL_REASONS) - {"selected", "not_selected", "misc", "barrier"}:
        seen = verdict(
            "saxpy",
            {**waits, **quiet, counters.stall(reason): 5.0, counters.stall("selected"): 5.0},
        )
        (finding,) = found("warp-stall", seen)
        assert finding.severity == "warning"
        advice.add(finding.advice)
    assert len(advice) == 15


BLOCK = """__global__ void k(float* x) {{ x[threadIdx.x] = 1.f; }}
void run(float* x, int n) {{ const int T = {0}; k<<<n, {1}>>>(x); }}
"""


@pytest.mark.parametrize(
    ("threads", "block"),
    [("2048", "T"), ("1", "1025"), ("1", "dim3(64, 32)"), ("1", "dim3(1, 1, 65)")],
)
def test_a_block_that_no_gpu_accepts_is_blocked_before_it_runs(threads: str, block: str) -> None:
    (finding,) = DETECTORS["impossible-launch"](Kernel("k", BLOCK.format(threads, block)), None)
    assert finding.blocking
    assert finding.subject == "k"
    assert finding.line == 2


@pytest.mark.parametrize(
    ("threads", "block"),
    [("1024", "T"), ("n", "T"), ("1", "dim3(32, 32)"), ("1", "dim3(1, 1, 64)"), ("1", "n")],
)
def test_a_block_that_fits_or_is_not_understood_is_let_through(threads: str, block: str) -> None:
    assert (
        list(DETECTORS["impossible-launch"](Kernel("k", BLOCK.format(threads, block)), None)) == []
    )


SHARED = """#define T {0}
__global__ void k(float* x) {{ __shared__ {1}; x[threadIdx.x] = t[0]; }}
"""


@pytest.mark.parametrize(
    ("size", "array"), [("128", "float t[T * T]"), ("112", "float t[T][T]"), ("49153", "char t[T]")]
)
def test_shared_arrays_over_48_kib_are_blocked_before_they_are_compiled(
    size: str, array: str
) -> None:
    source = SHARED.format(size, array).replace("t[0]", "0" if "][" in array else "t[0]")
    (finding,) = DETECTORS["static-shared"](Kernel("k", source), None)
    assert finding.blocking


@pytest.mark.parametrize(
    ("size", "array"),
    [
        ("49152", "char t[T]"),
        ("64", "float t[T * T]"),
        ("128", "Cell t[T * T]"),
        ("128", "float t[N * N]"),
    ],
)
def test_shared_arrays_that_fit_or_are_not_understood_are_let_through(
    size: str, array: str
) -> None:
    assert list(DETECTORS["static-shared"](Kernel("k", SHARED.format(size, array)), None)) == []


def test_nothing_is_blocked_in_a_file_of_kernels_that_all_ran() -> None:
    for detector in DETECTORS.values():
        assert [f for f in detector(KERNEL, None) if f.blocking] == []


def test_spills_are_reported_from_resources_alone() -> None:
    seen = Verdict(Status.CORRECT, resources={"k": Resources(registers=64, spill_bytes=128)})
    assert found("register-pressure", seen)[0].detector == "register-pressure"
    whole = replace(seen, resources={"k": Resources(registers=64)})
    assert found("register-pressure", whole) == []


LOOP = """__global__ void k(const float* a, const float* b, const int* c, float* o, int n) {{
    float s = 0.f;
    for (int j = 0; j < n; ++j) {0}
    o[threadIdx.x] = s;
}}
"""


@pytest.mark.parametrize(
    ("body", "product"),
    [
        ("s += a[j] * b[j];", True),
        ("s = s + a[j * n] * b[j];", True),
        ("s = fmaf(a[j], b[j], s);", True),
        ("{ float x = a[j], y = b[j]; s += x * y; }", True),
        ("s += a[j] * a[j];", False),
        ("s += a[j] * b[c[j]];", False),
        ("s += a[j] * 2.f;", False),
        ("s = a[j] * b[j];", False),
    ],
)
def test_tensor_cores_are_a_chance_for_dense_products_of_two_arrays_alone(
    body: str, product: bool
) -> None:
    seen = Verdict(Status.CORRECT, instructions={"k/FFMA": 8})
    assert bool(found("tensor-chance", seen, Kernel("k", LOOP.format(body)))) is product
