"""Which stores may be done behind an atomic: those that nothing orders, and no other."""

from __future__ import annotations

import operator
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from runners.reordering import Counter, Place, keeps, swaps
from runners.shaking import LATE, SEED, shaken

CASES = Path(__file__).parents[1] / "redteam" / "cases"
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")

STORE, COUNT = "st.global.f64 [%rd22], %fd35;", "atom.global.add.u32 %r10, [%rd23], 1;"


def found(*lines: str) -> list[tuple[int, int]]:
    return [(one.store, one.atomic) for one in swaps(lines)]


def test_what_nothing_orders_may_change_places() -> None:
    """Of several stores the last: one share that is not there yet is enough."""
    between = (
        "",
        "\tmov.u64 \t%rd23, ended; // the counter",
        "\t.loc\t1 20 9",
        "\tld.param.u64 \t%rd1, [inner_param_0];",
        "\tld.shared.f64 \t%fd1, [%r2];",
        "\tst.shared.u8 \t[last], %rs1;",
        "\tld.global.nc.f64 %fd2, [%rd4+8];",
        "\t@%p1 add.s32 \t%r3, %r3, 1;",
    )
    assert found(STORE, *between, COUNT) == [(0, 9)]
    assert found("st.global.f64 [%rd21], %fd34;", STORE, COUNT) == [(1, 2)]
    assert found(STORE, COUNT, STORE, COUNT) == [(0, 1), (2, 3)]


def test_a_place_is_where_and_how_much() -> None:
    """Also of vectors, of pairs of halves, with an offset, and of a name."""
    lines = (
        "@!%p1 st.v4.f32 [%rd1+-16], {%f1, %f2, %f3, %f4};",
        "red.relaxed.gpu.global.add.noftz.f16x2 [ended+4], %r1;",
        "st.global.cg.b64 [share], %rd7;",
        "@%p2 atom.cas.b128 %rq1, [%rd9], %rq2, %rq3;",
    )
    first, second = swaps(lines)
    assert (first.stored, first.counted) == (
        Place("%rd1", -16, 16, generic=True),
        Place("ended", 4, 4, generic=False),
    )
    assert (second.stored, second.counted) == (
        Place("share", 0, 8, generic=False),
        Place("%rd9", 0, 16, generic=True),
    )


@pytest.mark.parametrize(
    "between",
    [
        "membar.gl;",
        "membar.cta;",
        "fence.acq_rel.gpu;",
        "fence.sc.cta;",
        "bar.sync 0;",
        "bar.warp.sync -1;",
        "barrier.cluster.arrive;",
        "shfl.sync.down.b32 %r4|%p2, %r3, 16, 31, -1;",
        "vote.sync.ballot.b32 %r4, %p1, -1;",
        "activemask.b32 %r4;",
        "$L__BB0_2:",
        "@%p1 bra $L__BB0_2;",
        "ret;",
        "call.uni (retval0), f, (param0);",
        "{",
        "}",
        "ld.global.f64 %fd1, [%rd4];",
        "ld.f64 %fd1, [%rd4];",
        "ld.acquire.gpu.global.u32 %r1, [%rd4];",
        "ld.volatile.shared.u32 %r1, [%r4];",
        "st.volatile.shared.u32 [%r4], %r1;",
        "st.release.gpu.global.u32 [%rd4], %r1;",
        "st.shared::cluster.u32 [%r4], %r1;",
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r4], %r1, [%r5];",
        "atom.shared.add.u32 %r1, [%r4], 1;",
        "nanosleep.u32 20;",
        "mov.f64 %fd35, %fd36;",
        "add.s64 %rd22, %rd22, 8;",
        "ld.shared.v2.f64 {%fd34, %fd35}, [%r2];",
        "mov.u32 %r1, 1; mov.u32 %r2, 2;",
    ],
)
def test_what_orders_or_may_mean_the_same_keeps_a_store_where_it_is(between: str) -> None:
    """Barriers, fences, other memory, ends of a straight line, and registers that change."""
    assert found(STORE, between, COUNT) == []


@pytest.mark.parametrize(
    "store",
    [
        "st.volatile.global.f64 [%rd22], %fd35;",
        "st.relaxed.gpu.global.f64 [%rd22], %fd35;",
        "st.release.gpu.global.f64 [%rd22], %fd35;",
        "st.shared.f64 [%r22], %fd35;",
        "st.local.f64 [%rd22], %fd35;",
        "st.param.b64 [param0+0], %rd35;",
        "st.f64 [share], %fd35;",
    ],
)
def test_strong_stores_and_those_to_other_memory_stay(store: str) -> None:
    assert found(store, COUNT) == []


@pytest.mark.parametrize(
    "count",
    [
        "atom.add.acq_rel.gpu.u32 %r10,[%rd23],%r11;",
        "atom.global.release.gpu.add.u32 %r10, [%rd23], 1;",
        "atom.acquire.gpu.global.exch.b32 %r10, [%rd23], 1;",
        "atom.shared.add.u32 %r10, [%r23], 1;",
        "red.release.gpu.global.add.u32 [%rd23], 1;",
        "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];",
        "atom.global.add.u64 %rd22, [%rd23], 1;",
        "multimem.red.relaxed.sys.global.add.u32 [%rd23], 1;",
    ],
)
def test_an_atomic_that_orders_is_not_passed(count: str) -> None:
    """Nor one that writes what the store still needs."""
    assert found(STORE, count) == []


def test_a_store_that_may_be_to_other_memory_does_not_pass_any() -> None:
    """It could be shared memory that an address without a space means."""
    generic = "st.f64 [%rd22], %fd35;"
    assert found(generic, "mov.u64 %rd23, ended;", COUNT) == [(0, 2)]
    assert found(generic, "ld.shared.f64 %fd1, [%r2];", COUNT) == []
    assert found("@%p1 " + STORE, "setp.eq.s32 %p1, %r1, 0;", COUNT) == []


PTX = """.version 8.0
.target sm_90
.address_size 64
.global .align 8 .b8 share[2112];
.global .align 4 .u32 ended;

.visible .entry inner(
	.param .u64 inner_param_0
)
{
	.reg .pred 	%p<3>;
	.reg .b32 	%r<5>;
	.reg .f64 	%fd<2>;
	.reg .b64 	%rd<5>;

	ld.param.u64 	%rd1, [inner_param_0];
	mov.u32 	%r1, %tid.x;
	setp.eq.s32 	%p1, %r1, 0;
	mov.f64 	%fd1, 0d3FF0000000000000;
	STORE
	mov.u64 	%rd2, ended;
	COUNT
	st.shared.u32 	[%r1], %r2;
	ret;
}
"""


def text_of(store: str, count: str) -> str:
    text = shaken(PTX.replace("STORE", store).replace("COUNT", count))
    assert text is not None
    return text


def test_half_of_the_warps_store_behind_the_atomic() -> None:
    """In two turns on both sides, never on both, and after a sleep behind it."""
    store, count = "st.global.f64 [%rd1], %fd1;", "atom.global.add.u32 %r2, [%rd2], 1;"
    text = text_of(store, count)
    before, behind = text.split(count)
    for part, chosen in ((before, "%optiml_u"), (behind, "%optiml_v")):
        assert part.count(f"@%optiml_p {store}") == 2
        assert part.count(f"and.pred %optiml_p, %optiml_p, {chosen};") == 2
    assert before.index("mov.u64 \t%rd2, ended;") < before.index(store)
    assert behind.index("@%optiml_p nanosleep.u32 %optiml_z;") < behind.index(store)
    assert "setp.ge.and.u64 %optiml_v, %optiml_d, 8, %optiml_v;" in before
    assert "setp.ge.and.u64 %optiml_v, %optiml_d, 4, %optiml_v;" in before


ACCEPTED = [
    ("st.global.f64 [share+8], %fd1;", "red.global.add.u32 [ended], 1;"),
    ("@%p1 st.global.f64 [%rd1+-8], %fd1;", "@%p1 atom.global.add.u32 %r2, [%rd2], 1;"),
    ("@!%p1 st.f64 [%rd1], %fd1;", "atom.relaxed.gpu.add.u32 %r2, [%rd2+4], 1;"),
    ("st.global.v2.f64 [%rd1], {%fd1, %fd1};", "@!%p1 red.add.f64 [%rd1+8], %fd1;"),
]


@needs_nvcc
@pytest.mark.parametrize(("store", "count"), ACCEPTED)
def test_ptxas_accepts_a_store_behind_an_atomic(store: str, count: str, tmp_path: Path) -> None:
    """With conditions, without, generic or not, by name or register."""
    text = text_of(store, count)
    assert "%optiml_v" in text
    assembled(text, tmp_path)


def test_a_function_that_may_be_called_without_end_keeps_its_order() -> None:
    """How often a thread has slept is known for a kernel."""
    text = PTX.replace(".entry", ".func").replace("STORE", STORE).replace("COUNT", COUNT)
    assert len(swaps(text.splitlines())) == 1
    changed = shaken(text)
    assert changed is not None
    assert "%optiml_v" not in changed


@pytest.mark.parametrize("kind", ["entry", "func"])
def test_first_blocks_of_a_kernel_begin_late(kind: str) -> None:
    """Once a launch, not at each call of a function; and not in all launches of a long program."""
    text = shaken(PTX.replace(".entry", f".{kind}").replace("STORE", "").replace("COUNT", ""))
    assert text is not None
    assert text.count(f"[{LATE}]") == (2 if kind == "entry" else 0)
    assert (text.count("nanosleep.u32 %optiml_b;") > 1) == (kind == "entry")


@pytest.mark.parametrize("base", [0, 1, 6, 977, 123456789, 2**32 - 50])
def test_two_builds_of_an_entry_function_differ_in_whether_blocks_begin_late(base: int) -> None:
    """As `runners.judge` chooses their seeds; programs have one, any odd number."""
    seeds = [(base * 2654435761 + number * 97) % 2**32 | 1 for number in range(2)]
    assert {seed >> 5 & 1 for seed in seeds} == {0, 1}


def assembled(text: str, tmp_path: Path) -> None:
    source = tmp_path / "text.ptx"
    source.write_text(text)
    command = ["nvcc", "-cubin", "-arch=sm_90", "-o", str(tmp_path / "text.cubin"), str(source)]
    made = subprocess.run(command, check=False, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr


def compiled(source: Path, tmp_path: Path) -> str:
    target = tmp_path / "made.ptx"
    command = ["nvcc", "-ptx", "-std=c++17", "-arch=sm_90", "-o", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return target.read_text()


RIGHT = """
#include <cooperative_groups.h>
#include <cuda/atomic>
__device__ float share[1024];
__device__ unsigned ended;
#define KERNEL(name) extern "C" __global__ void name(float* part, unsigned* count, float x)
KERNEL(fenced) { part[blockIdx.x] = x; __threadfence(); atomicAdd(count, 1u); }
KERNEL(fenced_by_name) { share[blockIdx.x] = x; __threadfence(); atomicAdd(&ended, 1u); }
KERNEL(fenced_for_all) { part[blockIdx.x] = x; __threadfence_system(); atomicInc(count, 7u); }
KERNEL(fenced_for_a_block) { part[threadIdx.x] = x; __threadfence_block(); atomicAdd(count, 1u); }
KERNEL(released) {
    share[blockIdx.x] = x;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*count).fetch_add(
        1u, cuda::memory_order_release);
}
KERNEL(in_order) {
    share[blockIdx.x] = x;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*count).fetch_add(1u);
}
KERNEL(fenced_by_the_standard) {
    part[blockIdx.x] = x;
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device);
    atomicAdd(count, 1u);
}
KERNEL(fenced_volatile) { *(volatile float*)&part[blockIdx.x] = x; atomicAdd(count, 1u); }
KERNEL(behind_a_barrier) {
    part[blockIdx.x * blockDim.x + threadIdx.x] = x;
    __syncthreads();
    if (threadIdx.x == 0) { __threadfence(); atomicAdd(count, 1u); }
}
KERNEL(behind_a_warp) { part[threadIdx.x] = x; __syncwarp(); atomicAdd(count, 1u); }
KERNEL(of_a_grid) { part[threadIdx.x] = x; cooperative_groups::this_grid().sync(); }
KERNEL(counted_first) { if (atomicAdd(count, 1u) == 0) part[blockIdx.x] = x; }
KERNEL(by_an_atomic) { atomicExch(&part[blockIdx.x], x); atomicAdd(count, 1u); }
"""
SAME = """
extern "C" __global__ void same(float* part, int at, float x) {
    part[threadIdx.x] = x;
    atomicAdd(&part[at], 1.f);
}
"""


@needs_nvcc
def test_no_store_of_a_right_kernel_is_moved(tmp_path: Path) -> None:
    """Whatever stands between orders it: a fence, a release, a barrier, an atomic before."""
    (tmp_path / "right.cu").write_text(RIGHT)
    text = compiled(tmp_path / "right.cu", tmp_path)
    assert text.count(".entry") == RIGHT.count("KERNEL(") - 1
    assert swaps(text.splitlines()) == []
    changed = shaken(text)
    assert changed is not None
    assert "%optiml_v" not in changed
    assembled(changed, tmp_path)


@needs_nvcc
def test_whether_both_mean_the_same_element_is_for_the_run_to_tell(tmp_path: Path) -> None:
    (tmp_path / "same.cu").write_text(SAME)
    text = compiled(tmp_path / "same.cu", tmp_path)
    (swap,) = swaps(text.splitlines())
    assert (swap.stored.size, swap.counted.size) == (4, 4)
    changed = shaken(text)
    assert changed is not None
    assert changed.count("setp.ge.and.u64 %optiml_v, %optiml_d, 4, %optiml_v;") == 2
    assembled(changed, tmp_path)


SWAPPED = {
    "inner/no_fence": ["atom.global.add.u32"],
    "total/no_fence_early_read": ["atom.global.inc.u32"],
    "inner/base": [],
    "inner/counts_from_the_first_block": [],
    "inner/wraps_around": [],
    "inner/released_and_acquired": [],
    "inner/told_without_barrier": [],
}


@needs_nvcc
@pytest.mark.parametrize("case", SWAPPED)
def test_the_red_teams_shares_are_told_apart(case: str, tmp_path: Path) -> None:
    """A share that is counted without a fence is moved; with one, however it is written, never."""
    text = compiled(CASES / f"{case}.cu", tmp_path)
    lines = text.splitlines()
    assert [lines[one.atomic].split()[0] for one in swaps(lines)] == SWAPPED[case]
    changed = shaken(text)
    assert changed is not None
    assert LATE in changed
    assembled(changed, tmp_path)


KEPT = """.version 8.0
.target sm_90
.address_size 64
.global .align 4 .u32 ended;

.visible .entry inner(
	.param .u64 inner_param_0,
	.param .u64 inner_param_1,
	.param .u32 inner_param_2
)
{
	.reg .pred 	%p<9>;
	.reg .b32 	%r<19>;
	.reg .b64 	%rd<19>;
	.shared .align 4 .b8 last[512];

	ld.param.u64 	%rd1, [inner_param_0];
	ld.param.u64 	%rd2, [inner_param_1];
	ld.param.u32 	%r8, [inner_param_2];
	cvta.to.global.u64 	%rd3, %rd1;
	cvta.to.global.u64 	%rd4, %rd2;
	mov.u32 	%r1, %tid.x;
	and.b32 	%r3, %r1, 1;
	setp.ne.s32 	%p1, %r3, 0;
	setp.ne.s32 	%p2, %r1, 0;
	mul.wide.u32 	%rd5, %r1, 4;
	add.s64 	%rd6, %rd3, %rd5;
	mov.u32 	%r9, 0;
	// begins
$AGAIN:
	add.s32 	%r7, %r1, %r9;
	@%p1 bra 	$FIRST; // odd
	st.global.u32 	[%rd6+8], %r7;
	// stored
$FIRST:
	bar.sync 	0;
	@%p2 bra 	$SECOND; // others
	atom.global.add.u32 	%r4, [%rd4], 1;
	st.shared.u32 	[last], %r4;
	// counted
$SECOND:
	bar.sync 	0;
	ld.shared.u32 	%r5, [last];
	ld.global.u32 	%r6, [%rd6+8];
	st.global.u32 	[%rd6+4096], %r6;
	// end
	ret;
}
"""
LOOP = """add.s32 %r9, %r9, 1;
	bar.sync 0;
	setp.lt.s32 %p5, %r9, %r8;
	@%p5 bra $AGAIN;"""


def keeping(*changes: tuple[str, str]) -> str:
    text = KEPT
    for old, new in changes:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def kept(text: str) -> list[tuple[str, tuple[Counter, ...]]]:
    lines = text.splitlines()
    for one in keeps(lines):
        assert "bar.sync" in lines[one.barrier]
    return [(lines[one.store].strip(), one.counted) for one in keeps(lines)]


FIRST_STORE = "st.global.u32 \t[%rd6+8], %r7;"
ATOMIC = "atom.global.add.u32 \t%r4, [%rd4], 1;"
COUNTED = (Counter("[inner_param_1]", 0, 4),)


def test_a_store_may_be_kept_past_a_barrier_and_what_is_counted_behind_it() -> None:
    (one,) = keeps(KEPT.splitlines())
    lines = KEPT.splitlines()
    assert lines[one.store].strip() == FIRST_STORE
    assert lines[one.barrier - 1] == "$SECOND:"
    assert (one.stored, one.counted) == (Place("%rd6", 8, 4, generic=False), COUNTED)


@pytest.mark.parametrize(
    "changes",
    [
        [("// stored", "st.shared.u32 [last+4], %r1;\n\tld.shared.u32 %r11, [last+8];")],
        [("// counted", "ld.global.nc.u32 %r11, [%rd6];")],
        [("// counted", "setp.eq.s32 %p3, %r4, 3;\n\t@%p3 bra $SECOND;")],
        [("@%p2 bra \t$SECOND; // others", ""), ("\t" + ATOMIC, "\t@!%p2 " + ATOMIC)],
        [("// begins", "@%p1 ret;")],
        [("// begins", "membar.gl;\n\tld.volatile.global.u32 %r11, [%rd3];")],
        [("// end", "membar.gl;\n\tbar.sync 0;\n\tld.global.u32 %r11, [%rd3];")],
        [("// end", LOOP)],
        [("// begins", "bar.sync 0;")],
        [("// begins", "@%p1 bra $SKIP;\n\tst.global.u32 [%rd6+8], %r1;\n$SKIP:")],
    ],
)
def test_what_harms_nobody_may_be_between(changes: list[tuple[str, str]]) -> None:
    """Or before and behind: also a loop around all of it, and threads that have ended before."""
    assert kept(keeping(*changes)) == [(FIRST_STORE, COUNTED)]


@pytest.mark.parametrize(
    ("made", "counter"),
    [
        ("cvta.to.global.u64 \t%rd4, %rd2;\n\tadd.s64 %rd7, %rd4, 8;", "[inner_param_1]"),
        ("mov.u64 %rd4, ended;\n\tadd.s64 %rd7, %rd4, 8;", "ended"),
        ("add.u64 %rd4, %rd2, 8;\n\tmov.b64 %rd7, %rd4;", "[inner_param_1]"),
    ],
)
def test_a_counter_is_followed_to_where_it_comes_from(made: str, counter: str) -> None:
    text = keeping(
        ("cvta.to.global.u64 \t%rd4, %rd2;", made),
        (ATOMIC, "atom.relaxed.gpu.global.cas.b64 %rd9, [%rd7+-4], %rd1, %rd2;"),
    )
    assert kept(text) == [(FIRST_STORE, (Counter(counter, 4, 8),))]
    assert kept(keeping((ATOMIC, "atom.global.add.u32 %r4, [ended], 1;"))) == [
        (FIRST_STORE, (Counter("ended", 0, 4),))
    ]


ORDERS = [
    "membar.gl;",
    "membar.cta;",
    "fence.acq_rel.gpu;",
    "fence.proxy.async;",
    "bar.warp.sync -1;",
    "shfl.sync.down.b32 %r11|%p4, %r1, 16, 31, -1;",
    "vote.sync.ballot.b32 %r11, %p1, -1;",
    "ld.volatile.shared.u32 %r11, [last];",
    "st.volatile.shared.u32 [last], %r1;",
    "st.release.gpu.global.u32 [%rd4], %r1;",
    "ld.acquire.gpu.global.u32 %r11, [%rd4];",
    "ld.global.u32 %r11, [%rd3];",
    "ld.u32 %r11, [%rd3];",
    "ld.shared::cluster.u32 %r11, [%r1];",
    "atom.shared.add.u32 %r11, [last], 1;",
    "atom.acq_rel.gpu.global.add.u32 %r11, [%rd4], 1;",
    "red.release.gpu.global.add.u32 [%rd4], 1;",
    "red.async.relaxed.cluster.mbarrier::complete_tx::bytes.add.u32 [%r1], %r2, [%r3];",
    "cp.async.ca.shared.global [%r1], [%rd3], 16;",
    "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];",
    "mbarrier.arrive.shared.b64 %rd11, [%r1];",
    "tex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd3, {%r1}];",
    "griddepcontrol.launch_dependents;",
    "nanosleep.u32 20;",
    "ret;",
    "@%p1 ret;",
    "@%p1 exit;",
    "trap;",
    "@%p1 bra $AGAIN;",
    "@%p1 bra $END;",
    "mov.u32 %r7, %r1;",
    "ld.shared.u32 %r7, [last];",
    "add.s64 %rd6, %rd6, 8;",
    "{\n\t}",
    ".reg .b32 %own;",
    "mov.u32 %r11, 1; mov.u32 %r12, 2;",
]


@pytest.mark.parametrize("place", ["// stored", "// counted"])
@pytest.mark.parametrize("between", ORDERS)
def test_nothing_between_may_order_see_end_or_go_back(place: str, between: str) -> None:
    assert kept(keeping((place, between), ("// end", "$END:"))) == []


@pytest.mark.parametrize(
    "changes",
    [
        [("// counted", "st.global.u32 [%rd3+64], %r1;")],
        [("// counted", "st.u32 [%rd3+64], %r1;")],
        [("// stored", "st.u32 [%rd3+64], %r1;")],
        [("// stored", "atom.global.add.u32 %r11, [%rd4], 1;")],
        [(FIRST_STORE, "st.u32 [%rd6+8], %r7;")],
        [(FIRST_STORE, "st.volatile.global.u32 [%rd6+8], %r7;")],
        [(FIRST_STORE, "st.relaxed.gpu.global.u32 [%rd6+8], %r7;")],
        [(FIRST_STORE, "st.shared.u32 [last+8], %r7;")],
        [(FIRST_STORE, "@%p1 " + FIRST_STORE), ("// counted", "setp.ne.s32 %p1, %r4, 0;")],
        [(ATOMIC, "red.global.add.u32 [%rd4], 1;")],
        [(ATOMIC, "")],
        [(ATOMIC, "atom.global.add.u32 %r4, [%rd6], 1;")],
        [(ATOMIC, "atom.global.add.u32 %r4, [last], 1;")],
        [("// counted", "red.global.add.u32 [%rd6+64], 1;")],
        [("cvta.to.global.u64 \t%rd4, %rd2;", "ld.global.u64 %rd4, [%rd2];")],
        [("cvta.to.global.u64 \t%rd4, %rd2;", "mad.wide.u32 %rd4, %r1, 4, %rd2;")],
        [("cvta.to.global.u64 \t%rd4, %rd2;", "add.s64 %rd4, %rd2, %rd5;")],
        [("cvta.to.global.u64 \t%rd4, %rd2;", "ld.param.u64 %rd4, [%rd2];")],
        [("cvta.to.global.u64 \t%rd4, %rd2;", "cvta.shared.u64 %rd4, %rd2;")],
        [("cvta.to.global.u64 \t%rd4, %rd2;", "@%p1 mov.u64 %rd4, %rd2;")],
        [("cvta.to.global.u64 \t%rd4, %rd2;", "mov.u64 %rd4, last;")],
        [("// end", "add.s64 %rd4, %rd4, 4;")],
    ],
)
def test_what_is_stored_and_counted_must_be_known_to_lie_apart(
    changes: list[tuple[str, str]],
) -> None:
    assert kept(keeping(*changes)) == []


@pytest.mark.parametrize(
    "elsewhere",
    [
        "bar.sync 1;",
        "bar.sync 0, 64;",
        "@%p1 bar.sync 0;",
        "bar.arrive 1, 64;",
        "bar.red.popc.u32 %r11, 0, %p1;",
        "barrier.cluster.arrive;",
        "mapa.shared::cluster.u32 %r11, %r1, 0;",
        "call.uni (retval0), f, (param0);",
        "@%p1 brx.idx %r1, ways;",
        "bra $NOWHERE;",
        "$FIRST:",
        ".reg .b32 own;",
        "{ .reg .b32 own; mov.u32 own, 1; }",
        # Not all threads come to the first barrier: some come to another one, or more often.
        "@%p1 bra $SECOND;",
        "@%p1 bra $ONCE;\n\tbar.sync 0;\n$ONCE:",
        "$MORE:\n\tbar.sync 0;\n\t@%p1 bra $MORE;",
    ],
)
def test_a_kernel_whose_threads_may_be_elsewhere_keeps_its_order(elsewhere: str) -> None:
    assert kept(keeping(("// begins", elsewhere))) == []


@pytest.mark.parametrize(
    "end",
    [
        "@%p1 bra $AGAIN;\n\tbar.sync 0;\n\tbra $AGAIN;",
        "@%p1 bra $FIRST;\n\tbra $SECOND;",
    ],
)
def test_threads_that_come_again_must_come_together(end: str) -> None:
    assert kept(keeping(("// end", end))) == []


def test_a_function_that_is_called_keeps_no_store() -> None:
    assert keeps(KEPT.replace(".entry", ".func").splitlines()) == []
    assert len(keeps((KEPT + KEPT.partition("ended;")[2]).splitlines())) == 2


COMPARED: dict[str, Callable[[int, int], bool]] = {
    one: getattr(operator, one) for one in ("eq", "ne", "lt", "ge")
}
DONE: dict[str, Callable[..., int]] = {
    "mov": lambda a: a,
    "cvta": lambda a: a,
    "not": lambda a: not a,
    "popc": int.bit_count,
    "add": operator.add,
    "sub": operator.sub,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "shl": operator.lshift,
    "shr": operator.rshift,
    "mul": operator.mul,
    "mul.hi": lambda a, b: a * b >> 32,
    "mad": lambda a, b, c: a * b + c,
    "bfe": lambda a, at, bits: a >> at & ((1 << bits) - 1),
}


@dataclass
class Block:
    """A block whose threads run one after the other from barrier to barrier."""

    number: int
    memory: dict[int | str, int]
    passed: int = 0
    slept: int = 0
    stores: list[tuple[int, int, int, int]] = field(default_factory=list)

    def run(self, text: str, threads: list[int]) -> None:
        lines = [line.partition("//")[0].strip() for line in text.splitlines()]
        lines = [line for line in lines if line and not line.startswith((".", "{", "}", ")"))]
        running = [self._thread(lines, thread) for thread in threads]
        while running:
            running = [one for one in running if next(one, None) is not None]
            self.passed += 1

    def left(self) -> dict[int | str, int]:
        """Return what the kernel's own memory holds."""
        own = self.memory.items()
        return {at: value for at, value in own if "optiml" not in str(at)}

    def _thread(self, lines: list[str], thread: int) -> Iterator[int]:
        values: dict[str, int] = {"%tid.x": thread, "%laneid": thread % 32, "%ctaid.x": self.number}
        values |= {"%ntid.x": 128, "%nctaid.x": 4} | {f"%n{a}.{b}": 1 for a, b in OTHERS}
        values |= {f"%{a}.{b}": 0 for a, b in OTHERS}

        def value(operand: str) -> int:
            if operand.startswith("["):
                base, _, plus = operand[1:-1].partition("+")
                at = value(base) + int(plus or 0) if base.startswith("%") else base + plus
                return self.memory.get(at, 0)
            if operand.startswith("%"):
                return values[operand]
            return int(operand, 0) if operand[0] in "-0123456789" else SYMBOLS[operand]

        at = 0
        while at < len(lines):
            line, at = lines[at], at + 1
            if line.endswith(":"):
                continue
            match = re.fullmatch(r"(?:@(!?)(%\w+)\s+)?([\w.:]+)\s*(.*);", line)
            assert match, line
            if match[2] and bool(values[match[2]]) == bool(match[1]):
                continue
            opcode, operands = match[3].split("."), [w.strip() for w in match[4].split(",")]
            name, to = opcode[0], operands[0]
            if name == "bra":
                at = lines.index(to + ":")
            elif name == "ret":
                return
            elif name == "bar":
                yield 1
            elif name == "nanosleep":
                self.slept += 1
            elif name in ("st", "red", "atom"):
                place = operands[1 if name == "atom" else 0]
                base, _, plus = place[1:-1].partition("+")
                where = value(base) + int(plus or 0) if base.startswith("%") else base
                before = self.memory.get(where, 0)
                given = value(operands[-1])
                self.memory[where] = given if name == "st" else before + given
                if name == "atom":
                    values[to] = before
                elif name == "st" and isinstance(where, int):
                    self.stores.append((thread, self.passed, where, given))
            elif name == "setp":
                made = COMPARED[opcode[1]](*map(value, operands[1:3]))
                if len(operands) == 4:
                    also = bool(value(operands[3]))
                    made = made and also if opcode[2] == "and" else made or also
                values[to] = made
            elif name == "ld":
                values[to] = value(operands[1])
            else:
                of = DONE[name + (".hi" if "hi" in opcode else "")](*map(value, operands[1:]))
                bits = 1 if opcode[-1] == "pred" else 64 if "64" in opcode[-1] else 32
                bits = 64 if "wide" in opcode else bits
                values[to] = int(of) & ((1 << bits) - 1)


OTHERS = [(a, b) for a in ("tid", "ctaid") for b in "yz"]
SYMBOLS = {"ended": 1 << 20, "last": 0}
THREADS = [0, 1, 2, 32, 33, 34, 64, 66, 67, 96, 97, 98]
OUT, COUNT_AT = 1 << 21, 1 << 22


def done(text: str, seed: int, count_at: int = COUNT_AT) -> list[Block]:
    memory: dict[int | str, int] = {SEED: seed, "inner_param_2": 3}
    memory |= {"inner_param_0": OUT, "inner_param_1": count_at}
    blocks = []
    for number in range(4):
        blocks.append(Block(number, memory))
        blocks[-1].run(text, THREADS)
        memory = dict(memory)
    return blocks


EMULATED = {
    "once": [],
    "again": [("// end", LOOP)],
    "ends": [("// begins", "setp.ge.s32 %p6, %r1, 64;\n\t@%p6 ret;")],
    "sometimes": [
        ("@%p1 bra \t$FIRST; // odd", "setp.eq.s32 %p1, %r9, %r3;\n\t@%p1 bra $FIRST;"),
        ("// end", LOOP),
    ],
    "own": [("@%p1 bra \t$FIRST; // odd", ""), ("@%p2 bra \t$SECOND; // others", "")],
    "guard": [("@%p1 bra \t$FIRST; // odd", ""), ("\t" + FIRST_STORE, "\t@!%p1 " + FIRST_STORE)],
    "branches": [
        ("// begins", "setp.ge.s32 %p6, %r1, 64;"),
        ("// stored", "@%p6 bra $FIRST;\n\tmov.u32 %r11, 5;"),
        ("// counted", "@%p1 bra $LATER;\n\tmov.u32 %r11, 6;\n$LATER:"),
    ],
}


@pytest.mark.parametrize("what", EMULATED)
def test_a_kept_store_is_done_once_before_the_next_barrier(what: str) -> None:
    """Whatever way a thread goes; the memory is the same at the end, and each turn of a loop."""
    text = keeping(*EMULATED[what])
    assert len(keeps(text.splitlines())) == 1
    changed = shaken(text)
    assert changed is not None
    late = 0
    for seed in range(12):
        for right, block in zip(done(text, 0), done(changed, seed), strict=True):
            assert block.left() == right.left()
            assert block.passed == right.passed
            moved = 0
            mine = sorted((thread, at, given, when) for thread, when, at, given in block.stores)
            theirs = sorted((thread, at, given, when) for thread, when, at, given in right.stores)
            for one, other in zip(mine, theirs, strict=True):
                assert one[:3] == other[:3]
                assert one[3] - other[3] in (0, 1)
                moved += one[3] - other[3]
            late += moved
            assert not moved or seed
    assert late


def test_half_of_the_warps_of_half_of_the_blocks_keep_a_store() -> None:
    """A block that keeps none is the first to look at the others' shares."""
    changed = shaken(KEPT)
    assert changed is not None
    keepers, warps = [], []
    for seed in range(1, 41):
        for block in done(changed, seed):
            late = {
                thread // 32 for thread, when, at, _ in block.stores if when and at < OUT + 4096
            }
            keepers.append(bool(late))
            warps += [len(late)] if late else []
    assert 0.35 < sum(keepers) / len(keepers) < 0.65
    assert 1.5 < sum(warps) / len(warps) < 2.7


def test_what_is_counted_itself_is_not_kept() -> None:
    """The kernel finds out that its two buffers are one; else half would be stored later."""
    changed = shaken(KEPT)
    assert changed is not None
    late = {}
    own = OUT + 8 + 4 * 96
    for at in (COUNT_AT, OUT + 8, own - 2, own, own + 2):
        late[at] = {
            thread
            for seed in range(20)
            for block in done(changed, seed, at)
            for thread, when, where, _ in block.stores
            if when == 1 and where < OUT + 4096
        }
    every = {thread for thread in THREADS if thread % 2 == 0}
    assert late[COUNT_AT] == every
    assert late[OUT + 8] == every - {0}
    assert late[own - 2] == late[own] == late[own + 2] == every - {96}


@needs_nvcc
@pytest.mark.parametrize(
    "changes",
    [
        [],
        [("// end", LOOP)],
        [(FIRST_STORE, "@!%p1 " + FIRST_STORE)],
        [(FIRST_STORE, "@%p2 st.global.v2.u32 [%rd6+8], {%r7, %r1};")],
        [(FIRST_STORE, "st.global.u32 [ended+8], %r7;")],
        [(ATOMIC, "atom.global.add.u32 %r4, [ended+4], 1;")],
    ],
)
def test_ptxas_accepts_a_kept_store(changes: list[tuple[str, str]], tmp_path: Path) -> None:
    changed = shaken(keeping(*changes))
    assert changed is not None
    assert changed.count("mov.pred %optiml_h, 0;") == 2
    assembled(changed, tmp_path)


BEHIND_A_BARRIER = """
#define KERNEL(name) extern "C" __global__ void name( \\
    const float* x, float* part, unsigned* count, float* out)
#define SUM float own = x[blockIdx.x * 256 + threadIdx.x]; __shared__ bool last;
#define ADD if (last) { \\
    for (int k = threadIdx.x; k < gridDim.x; k += 256) own += part[k]; \\
    out[threadIdx.x] = own; }
#define TELL last = atomicAdd(count, 1u) == gridDim.x - 1
KERNEL(fenced_by_each) { SUM
    if (threadIdx.x % 32 == 0) part[blockIdx.x * 8 + threadIdx.x / 32] = own;
    __threadfence(); __syncthreads();
    if (threadIdx.x == 0) TELL;
    __syncthreads(); ADD }
KERNEL(fenced_by_who_stores) { SUM
    if (threadIdx.x == 0) { part[blockIdx.x] = own; __threadfence(); }
    __syncthreads();
    if (threadIdx.x == 0) TELL;
    __syncthreads(); ADD }
KERNEL(fenced_by_who_counts) { SUM
    if (threadIdx.x % 32 == 0) part[blockIdx.x * 8 + threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x == 0) { __threadfence(); TELL; }
    __syncthreads(); ADD }
KERNEL(fenced_behind) { SUM
    part[blockIdx.x * 256 + threadIdx.x] = own;
    __syncthreads();
    __threadfence();
    if (threadIdx.x == 0) TELL;
    __syncthreads(); ADD }
KERNEL(read_by_the_block) { SUM
    part[blockIdx.x * 256 + threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.x == 0) TELL;
    own += part[blockIdx.x * 256 + (threadIdx.x ^ 32)];
    __syncthreads(); ADD }
KERNEL(cleared_and_counted) { SUM
    if (threadIdx.x < 4) count[blockIdx.x * 4 + threadIdx.x] = 0;
    __syncthreads();
    last = atomicAdd(&count[blockIdx.x * 4 + threadIdx.x % 4], 1u) == 5;
    __syncthreads(); ADD }
"""


@needs_nvcc
def test_no_store_of_a_right_kernel_is_kept(tmp_path: Path) -> None:
    """With a fence before or behind the barrier, or where the block needs what was stored."""
    (tmp_path / "right.cu").write_text(BEHIND_A_BARRIER)
    text = compiled(tmp_path / "right.cu", tmp_path)
    assert text.count(".entry") == BEHIND_A_BARRIER.count("KERNEL(") - 1
    assert keeps(text.splitlines()) == []


@needs_nvcc
def test_the_red_teams_sums_without_a_fence_are_kept(tmp_path: Path) -> None:
    text = compiled(CASES / "unitise/sums_without_a_fence.cu", tmp_path)
    (one,) = keeps(text.splitlines())
    assert [counter.plus for counter in one.counted] == [0]
    changed = shaken(text)
    assert changed is not None
    assembled(changed, tmp_path)
    fenced = compiled(CASES / "unitise/last_block_adds.cu", tmp_path)
    assert keeps(fenced.splitlines()) == []
