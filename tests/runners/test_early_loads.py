"""Loads that may be done before a loop that waits: which they are, and what half of the warps get."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from runners.early_loads import Early, early, instead, put
from runners.reordering import Place
from runners.seeded import SEED
from runners.shaking import shaken
from tests.runners.test_reordering import CASES, assembled, compiled, needs_nvcc
from tests.runners.test_shaking import Warps

HEAD = """.version 8.0
.target sm_90
.address_size 64

.visible .entry chain(
\t.param .u64 chain_param_0
)
{
\t.reg .pred \t%p<4>;
\t.reg .b32 \t%r<9>;
\t.reg .f32 \t%f<9>;
\t.reg .b64 \t%rd<9>;

\tld.param.u64 \t%rd1, [chain_param_0];
\tcvta.to.global.u64 \t%rd2, %rd1;
\tadd.s64 \t%rd3, %rd2, 16;
"""
WAITS = ("ld.volatile.global.u32 %r1, [%rd3];", "setp.ne.s32 %p1, %r1, %r2;")
LOAD = "ld.global.u32 %r3, [%rd2];"


def text_of(*lines: str) -> str:
    return HEAD + "".join(f"\t{line}\n" for line in lines) + "\tret;\n}\n"


def spin(*waits: str, behind: tuple[str, ...] = (), load: str = LOAD) -> list[str]:
    """Return a loop that waits, and a load behind it."""
    return ["$L_SPIN:", *waits, "@%p1 bra $L_SPIN;", *behind, load]


def found(*lines: str) -> list[tuple[str, str]]:
    """Return the loads that may be done early, and in front of what."""
    text = text_of(*lines).splitlines()
    return [(text[one.load].strip(), text[one.before].strip()) for one in early(text)]


@pytest.mark.parametrize(
    "waits",
    [
        WAITS,
        ("mov.u32 %r4, 20;", "nanosleep.u32 %r4;", "ld.relaxed.gpu.global.u32 %r1, [%rd3];"),
        ("atom.global.add.u32 %r1, [%rd3], 0;", "setp.ne.s32 %p1, %r1, %r2;"),
        ("atom.relaxed.gpu.cas.b32 %r1, [%rd3], 0, 1;",),
        ("ld.volatile.u32 %r1, [%rd3];", "ld.shared.u32 %r2, [%r5];"),
    ],
)
def test_what_is_read_behind_a_loop_that_waits_may_be_read_before_it(
    waits: tuple[str, ...],
) -> None:
    """As far ahead as its address is known."""
    ((load, before),) = found(*spin(*waits))
    assert (load, before) == (LOAD, "$L_SPIN:")


def test_a_first_look_before_the_loop_is_passed_as_well() -> None:
    """And parts of a struct one behind the other, in vectors or not."""
    other = "ld.global.v2.f32 {%f1, %f2}, [%rd2+8];"
    lines = [*WAITS, "@%p1 bra $L_ON;", *spin(*WAITS, behind=("$L_ON:", other))]
    text = text_of(*lines).splitlines()
    first, second = early(text)
    assert [text[one.before].strip() for one in (first, second)] == [WAITS[0]] * 2
    assert (first.registers, first.bits) == (("%f1", "%f2"), 32)
    assert first.loaded == Place("%rd2", 8, 8, generic=False)
    assert second.watched == (Place("%rd3", 0, 4, generic=False),)


@pytest.mark.parametrize(
    "between",
    [
        "membar.gl;",
        "fence.acq_rel.gpu;",
        "bar.sync 0;",
        "bar.warp.sync -1;",
        "shfl.sync.idx.b32 %r4|%p2, %r3, 0, 31, -1;",
        "ld.acquire.gpu.global.u32 %r4, [%rd3];",
        "atom.acquire.gpu.global.add.u32 %r4, [%rd3], 0;",
        "atom.shared.add.u32 %r4, [%r5], 1;",
        "st.global.u32 [%rd2], %r1;",
        "st.u32 [%rd4], %r1;",
        "st.volatile.global.u32 [%rd3], %r1;",
        "red.global.add.u32 [%rd3], 1;",
        "ld.global.u32 %r4, [%rd4];",
        "ld.global.v2.u32 {%r4, %r5}, [%rd2+-4];",
        "cp.async.ca.shared.global [%r5], [%rd2], 4;",
        "call.uni (retval0), f, (param0);",
        "add.s64 %rd3, %rd3, 4;",
        "@%p2 bra $L_END;",
        "ret;",
        "{",
        "$L_FROM_ELSEWHERE:",
        "mov.u32 %r1, 1; mov.u32 %r2, 2;",
    ],
)
def test_what_orders_or_leaves_or_may_change_it_keeps_a_load_where_it_is(between: str) -> None:
    """In the loop as behind it: fences, barriers, own stores, other addresses, and other ways."""
    outside = ["@%p3 bra $L_FROM_ELSEWHERE;", "bar.sync 0;"]
    for lines in (spin(*WAITS, behind=(between,)), spin(*WAITS, between)):
        assert LOAD not in [load for load, _ in found(*outside, *lines, "$L_END:")]


@pytest.mark.parametrize(
    "load",
    [
        "@%p2 ld.global.u32 %r3, [%rd2];",
        "ld.volatile.global.u32 %r3, [%rd2];",
        "ld.relaxed.gpu.global.u32 %r3, [%rd2];",
        "ld.acquire.gpu.global.u32 %r3, [%rd2];",
        "ld.global.nc.u32 %r3, [%rd2];",
        "ld.shared.u32 %r3, [%r5];",
        "ld.u32 %r3, [%rd2];",
        "ld.global.u8 %rs1, [%rd2];",
        "ld.global.u32 %rd5, [%rd2];",
        "st.global.u32 [%rd2], %r3;",
    ],
)
def test_other_accesses_stay(load: str) -> None:
    """Whoever reads strongly has an order; what may be elsewhere or is narrow is left out."""
    assert found(*spin(*WAITS, load=load)) == []


STEPS = ("mul.wide.u32 %rd5, %r6, 4;", "add.s64 %rd6, %rd4, %rd5;", "add.s64 %rd2, %rd6, 8;")


def test_an_address_that_is_made_behind_the_loop_is_made_before_it() -> None:
    """Under names of its own, as some of what it writes may still be needed."""
    lines = spin(*WAITS, behind=("mov.u32 %r7, 0;", *STEPS))
    text = text_of(*lines)
    (one,) = early(text.splitlines())
    assert one.steps == STEPS
    ((before,),) = put([one]).values()
    n = one.load
    assert [line for line in before.splitlines() if not line.startswith(".reg")] == [
        f"mul.wide.u32 %optiml_e{n}_s0, %r6, 4;",
        f"add.s64 %optiml_e{n}_s1, %rd4, %optiml_e{n}_s0;",
        f"add.s64 %optiml_e{n}_s2, %optiml_e{n}_s1, 8;",
        f"ld.volatile.global.b32 %optiml_e{n}_0, [%optiml_e{n}_s2+0];",
    ]


@pytest.mark.parametrize(
    ("behind", "waits"),
    [
        (("add.s64 %rd2, %rd4, 4;", "$L_ON:", "add.s64 %rd2, %rd2, 4;"), WAITS),
        (("@%p2 add.s64 %rd2, %rd4, 4;",), WAITS),
        (("mul.wide.u32 %rd2, %r1, 4;",), WAITS),  # %r1 is what it waits for
        (STEPS, (*WAITS, "add.s32 %r6, %r6, 1;")),
        (("ld.shared.u64 %rd2, [%r5];",), WAITS),
        ((), (*WAITS, "add.s64 %rd2, %rd2, 4;")),
        (("cvt.u64.u16 %rd2, %rs1;",), WAITS),
        (("mov.u64 %rd2, %globaltimer;",), WAITS),
        (("mov.u64 %rd2, %clock64;",), WAITS),
        (("mov.b64 {%rd2, _}, %rd4;",), WAITS),
        (("add.cc.s64 %rd2, %rd4, %rd5;",), WAITS),
        (("selp.b64 %rd2, %rd4, %rd5, %p2;",), WAITS),
    ],
)
def test_an_address_that_is_not_known_before_the_loop_is_waited_for(
    behind: tuple[str, ...], waits: tuple[str, ...]
) -> None:
    """One that depends on what the loop saw, on a condition, or on other memory."""
    assert found(*spin(*waits, behind=behind)) == []


def test_of_two_loads_of_one_register_nobody_knows_whether_they_lap_over() -> None:
    behind = ("ld.global.u32 %r4, [%rd2+8];", "add.s64 %rd2, %rd2, 4;")
    assert LOAD not in [load for load, _ in found(*spin(*WAITS, behind=behind))]


@pytest.mark.parametrize(
    "unknown",
    [
        ("brx.idx %r1, $L_TABLE;",),
        ("@%p2 bra $L_NOWHERE;",),
        ("{", "$L_SPIN:", "@%p2 bra $L_SPIN;", "}"),
        ("{ bra $L_SPIN; }",),
    ],
)
def test_nothing_is_early_in_a_kernel_whose_jumps_are_not_known(unknown: tuple[str, ...]) -> None:
    """One of them may come into the loop from elsewhere."""
    assert found(*spin(*WAITS), "bar.sync 0;") == [(LOAD, "$L_SPIN:")]
    assert found(*spin(*WAITS), "bar.sync 0;", *unknown) == []


def test_who_only_looks_once_does_not_wait() -> None:
    assert found(*WAITS, LOAD) == []
    assert found("$L_SPIN:", "ld.shared.u32 %r1, [%r5];", "@%p1 bra $L_SPIN;", LOAD) == []
    assert found(*WAITS, "$L_SPIN:", "add.s32 %r4, %r4, 1;", "@%p1 bra $L_SPIN;", LOAD) == []


def test_what_is_watched_at_more_places_than_a_few_is_no_loop_that_waits() -> None:
    many = [f"ld.volatile.global.u32 %r1, [%rd3+{4 * one}];" for one in range(9)]
    assert len(found(*spin(*many[:8]))) == 1
    assert found(*spin(*many)) == []


def went_on(seed: int, loaded: int, watched: int) -> list[int]:
    """Return what warps get, where 3 was there before the loop and 5 is behind it."""
    one = Early(
        7,
        2,
        Place("%rd2", 0, 4, generic=False),
        ("%r3",),
        32,
        (Place("%rd3", 4, 4, generic=False),),
    )
    warps = Warps(16, 8, seed, {"%rd2+0": 3, "%rd2": 5})
    places = np.ones_like(warps.block)
    warps.registers |= {"%rd2": places * loaded, "%rd3": places * (watched - 4)}
    ((before,),) = put([one]).values()
    warps.run(before)
    warps.run(instead(one, LOAD, 11))
    return [int(value) for value in warps.registers["%r3"]]


@pytest.mark.parametrize("seed", [1, 977, 2**32 - 1])
def test_half_of_the_warps_go_on_with_what_was_there_before(seed: int) -> None:
    values = went_on(seed, 4096, 512)
    assert set(values) == {3, 5}
    assert 40 < values.count(3) < 88  # of 128


@pytest.mark.parametrize(("loaded", "watched"), [(512, 512), (512, 515), (515, 512)])
def test_what_is_waited_for_itself_is_as_new_as_it_was(loaded: int, watched: int) -> None:
    assert set(went_on(977, loaded, watched)) == {5}


def test_without_a_seed_nothing_is_older() -> None:
    assert set(went_on(0, 4096, 512)) == {5}


CHAIN = """
#include <cuda/atomic>
struct Chain { int done; int x; float y; double z; };
#define KERNEL(name) extern "C" __global__ void name(Chain *chain, Chain *other, double *out)
#define REF(at) cuda::atomic_ref<int, cuda::thread_scope_device>(at)
"""
WRONG = """
KERNEL(by_volatile) {
    while (*(volatile int *)&chain->done != blockIdx.x) __nanosleep(20);
    out[blockIdx.x] = chain->x + chain->y + chain->z;
}
KERNEL(by_an_atomic) {
    while (atomicAdd(&chain->done, 0) != blockIdx.x) { }
    out[blockIdx.x] = chain->x + chain->z;
}
KERNEL(by_relaxed) {
    while (REF(chain->done).load(cuda::memory_order_relaxed) == 0) { }
    out[blockIdx.x] = __ldcg(&chain->z);
}
"""
RIGHT = """
KERNEL(fenced) {
    while (*(volatile int *)&chain->done != blockIdx.x) __nanosleep(20);
    __threadfence();
    out[blockIdx.x] = chain->x + chain->y + chain->z;
}
KERNEL(fenced_by_atomic) {
    while (atomicAdd(&chain->done, 0) != blockIdx.x) { }
    __threadfence();
    out[blockIdx.x] = __ldcg(&chain->z);
}
KERNEL(acquired) {
    while (REF(chain->done).load(cuda::memory_order_acquire) == 0) { }
    out[blockIdx.x] = chain->z;
}
KERNEL(strong) {
    while (*(volatile int *)&chain->done != blockIdx.x) { }
    out[blockIdx.x] = *(volatile double *)&chain->z;
}
KERNEL(behind_a_barrier) {
    if (threadIdx.x == 0) { while (*(volatile int *)&chain->done == 0) { } __threadfence(); }
    __syncthreads();
    out[threadIdx.x] = chain->z;
}
KERNEL(read_before) {
    double z = other->z;
    while (*(volatile int *)&chain->done != blockIdx.x) { }
    out[blockIdx.x] = z;
}
KERNEL(in_one_word) {
    unsigned long long both;
    do both = *(volatile unsigned long long *)&chain->done; while ((int)both == 0);
    out[blockIdx.x] = both >> 32;
}
"""


@needs_nvcc
def test_a_chain_without_a_fence_reads_what_was_there_and_one_with_it_never(
    tmp_path: Path,
) -> None:
    (tmp_path / "chain.cu").write_text(CHAIN + WRONG)
    text = compiled(tmp_path / "chain.cu", tmp_path)
    lines = text.splitlines()
    loads = [(lines[one.load].split()[0], len(one.watched)) for one in early(lines)]
    assert {name for name, _ in loads} >= {"ld.global.u32", "ld.global.f64"}
    assert len(loads) == 6
    changed = shaken(text)
    assert changed is not None
    assert changed.count("@%optiml_v mov.b") == 6
    assert SEED in changed
    assembled(changed, tmp_path)
    (tmp_path / "chain.cu").write_text(CHAIN + RIGHT)
    text = compiled(tmp_path / "chain.cu", tmp_path)
    assert text.count(".entry") == RIGHT.count("KERNEL(")
    assert early(text.splitlines()) == []


@needs_nvcc
@pytest.mark.parametrize("case", ["jetty/lookback_tiles", "usher/chained", "lottery/lookback"])
def test_right_chains_of_the_red_team_read_when_they_say(case: str, tmp_path: Path) -> None:
    lines = compiled(CASES / f"{case}.cu", tmp_path).splitlines()
    assert early(lines) == []
