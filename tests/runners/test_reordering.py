"""Which stores may be done behind an atomic or a flag: those that nothing orders, and no other."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from runners.late_blocks import HELD_NS
from runners.reordering import Place, keeps, swaps
from runners.seeded import LATE_BIT
from runners.shaking import shaken
from runners.warp_delays import LATE
from tests.runners.test_shaking import Warps

CASES = Path(__file__).parents[1] / "redteam" / "cases"
needs_nvcc = pytest.mark.skipif(shutil.which("nvcc") is None, reason="nvcc is not installed here")

STORE, COUNT = "st.global.f64 [%rd22], %fd35;", "atom.global.add.u32 %r10, [%rd23], 1;"
FLAG = "st.volatile.global.u32 [%rd23], %r11;"


def found(*lines: str) -> list[tuple[int, int]]:
    return [(one.store, one.signal) for one in swaps(lines)]


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


@pytest.mark.parametrize(
    "flag",
    [
        FLAG,
        "@%p1 st.volatile.u32 [%rd23], %r11;",
        "st.relaxed.gpu.global.u64 [%rd23+8], %rd11;",
        "st.mmio.relaxed.sys.global.u32 [%rd23], %r11;",
        "st.volatile.global.v2.u32 [ready], {%r1, %r2};",
    ],
)
def test_a_flag_may_be_set_first(flag: str) -> None:
    """Of several stores and flags each flag has the store right before it."""
    assert found(STORE, "mov.u32 %r11, 1;", flag) == [(0, 2)]
    assert found(STORE, flag, flag, STORE, COUNT) == [(0, 1), (3, 4)]


@pytest.mark.parametrize(
    "flag",
    [
        "st.release.gpu.global.u32 [%rd23], %r11;",
        "st.volatile.shared.u32 [%r23], %r11;",
        "st.volatile.local.u32 [%rd23], %r11;",
        "st.relaxed.cluster.shared::cluster.u32 [%r23], %r11;",
        "st.global.u32 [%rd23], %r11;",
        "ld.volatile.global.u32 %r11, [%rd23];",
        "multimem.st.relaxed.sys.global.u32 [%rd23], %r11;",
    ],
)
def test_what_orders_or_is_no_flag_for_other_blocks_is_not_passed(flag: str) -> None:
    """One that stands behind such a line is another matter: then nothing is held any more."""
    assert found(STORE, flag) == []
    assert found(STORE, "membar.gl;", FLAG) == []
    assert found(STORE, "bar.sync 0;", FLAG) == []
    assert found(STORE, "fence.acq_rel.gpu;", FLAG) == []


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


def test_the_first_stores_behind_an_atomic_come_behind_late_blocks_too() -> None:
    """A late block counts itself last, some times its sleep behind the others."""
    text = text_of("st.global.f64 [%rd1], %fd1;", "atom.global.add.u32 %r2, [%rd2], 1;")
    more = f"@%optiml_u add.u32 %optiml_z, %optiml_z, {4 * HELD_NS};"
    at = text.index(more)
    assert "setp.lt.and.u32 %optiml_u, %optiml_t, 2, %optiml_p;" in text[:at].splitlines()[-1]
    behind = text[at:].splitlines()[1:3]
    assert behind == [
        "@%optiml_p add.u32 %optiml_t, %optiml_t, 1;",
        "@%optiml_p nanosleep.u32 %optiml_z;",
    ]


class Stores(Warps):
    """Warps whose stores are written down in their order: of whose warps, where, and the sleep."""

    def __init__(self, seed: int, addresses: dict[str, int]) -> None:
        super().__init__(16, 8, seed, {})
        self.special["%laneid"] = 0 * self.block
        one = np.ones_like(self.block)
        self.registers |= {name: one * at for name, at in addresses.items()}
        self.registers["%optiml_t"] = 0 * one
        self.done: list[tuple[str, Any, Any]] = []

    def _do(self, opcode: list[str], operands: list[str], on: Any) -> None:
        if opcode[0] == "st":
            at = operands[0].strip("[]")
            self.done.append((at, np.full(self.block.shape, on), self.slept.copy()))
        elif opcode[0] == "popc":
            self.registers[operands[0]] = np.bitwise_count(self.registers[operands[1]])
        elif opcode == ["mov", "pred"]:
            self.registers[operands[0]] = np.full(self.block.shape, operands[1] == "1")
        elif opcode[0] == "not":
            self.registers[operands[0]] = ~self.registers[operands[1]]
        else:
            super()._do(opcode, operands, on)


def ran(seed: int, data: int, flag: int) -> Stores:
    """Run a store and a flag under delays."""
    text = text_of("st.global.f64 [%rd1], %fd1;", "st.volatile.global.u32 [%rd2], %r2;")
    begins = text.rindex("\n{\n", 0, text.index("%optiml_x, %optiml_y, %optiml_d;"))
    ends = text.index("\n}\n{\n", text.rindex("st.global.f64 [%rd1], %fd1;"))
    warps = Stores(seed, {"%rd1": data, "%rd2": flag})
    warps.run(text[begins:ends].replace("\t", " "))
    return warps


def order(warps: Stores) -> tuple[Any, Any]:
    """Return which warps store before the flag and which behind; each does both once."""
    first = np.full(warps.block.shape, -1)
    at: dict[str, Any] = {"%rd1": first.copy(), "%rd2": first.copy()}
    for turn, (name, on, _) in enumerate(warps.done):
        assert (at[name][on] == -1).all()
        at[name][on] = turn
    assert all((one >= 0).all() for one in at.values())
    return at["%rd1"] < at["%rd2"], at["%rd1"] > at["%rd2"]


@pytest.mark.parametrize("seed", [1, 977, 2**32 - 1])
def test_half_of_the_warps_set_a_flag_before_what_it_announces(seed: int) -> None:
    """And are 8 µs late at least, so that who sees the flag reads what was there before."""
    warps = ran(seed, 4096, 512)
    before, behind = order(warps)
    assert 40 < behind.sum() < 88  # of 128
    assert (before | behind).all()
    late = [slept[on & behind] for at, on, slept in warps.done if at == "%rd1"]
    assert min(one.min() for one in late if one.size) >= 8000
    early = [slept[on & before] for at, on, slept in warps.done]
    assert max(one.max() for one in early if one.size) == 0


@pytest.mark.parametrize(("data", "flag"), [(512, 512), (512, 516), (512, 519), (516, 512 + 1)])
def test_bytes_that_both_write_keep_their_order(data: int, flag: int) -> None:
    for seed in (1, 977):
        before, _ = order(ran(seed, data, flag))
        assert before.all()


def test_without_a_seed_a_flag_comes_last() -> None:
    before, _ = order(ran(0, 4096, 512))
    assert before.all()


ACCEPTED = [
    ("st.global.f64 [%rd1], %fd1;", "@%p1 st.volatile.global.u32 [%rd2], %r2;"),
    ("@%p1 st.f64 [%rd1], %fd1;", "st.relaxed.gpu.u32 [%rd2], %r2;"),
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
KERNEL(flag_behind_a_fence) {
    part[blockIdx.x] = x; __threadfence(); *(volatile unsigned*)count = 1u;
}
KERNEL(flag_that_releases) {
    part[blockIdx.x] = x;
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*count).store(
        1u, cuda::memory_order_release);
}
KERNEL(flag_beside_its_value) {
    *(volatile unsigned long long*)count = 1ull << 32 | __float_as_uint(x);
    part[blockIdx.x] = x;
}
KERNEL(flag_in_one_vector) { ((uint2*)count)[1] = make_uint2(__float_as_uint(x), 1u); }
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
    "jetty/lookback_bare": ["st.volatile.global.u32"] * 2,
    "treedepth/flag_behind_round": ["st.volatile.global.u64"],
    "jetty/lookback_tiles": [],
    "rootcost/one_word": [],
    "treedepth/pairs_in_place": [],
    "usher/chained": [],
    "inner/base": [],
    "inner/counts_from_the_first_block": [],
    "inner/wraps_around": [],
    "inner/released_and_acquired": [],
    "inner/told_without_barrier": [],
}


@needs_nvcc
def test_what_is_kept_past_a_barrier_is_kept_longer_where_no_block_begins_late(
    tmp_path: Path,
) -> None:
    """The last block may be late, too: some microseconds were seen in one run of a hundred."""
    text = compiled(CASES / "yonder/fence_before_the_barrier.cu", tmp_path)
    changed = shaken(text)
    assert changed is not None
    kept = (
        f"and.b32 %optiml_b, %optiml_s, {1 << LATE_BIT};\nsetp.eq.and.u32 %optiml_p, %optiml_b, 0"
    )
    longer = f"{kept}, %optiml_h;\n@%optiml_p shl.b32 %optiml_z, %optiml_z, 5;"
    sleeps = "@%optiml_h nanosleep.u32 %optiml_z;\n@%optiml_p nanosleep.u32 %optiml_z;"
    assert changed.count(longer) == changed.count(sleeps) == 1
    assembled(changed, tmp_path)


@needs_nvcc
@pytest.mark.parametrize("case", ["cliff/fencefirst", "yonder/fence_before_the_barrier"])
def test_who_counts_the_block_does_not_sleep_at_a_fence_before_it(
    case: str, tmp_path: Path
) -> None:
    """Else the last blocks to count are those that slept, when all other stores are long done."""
    text = compiled(CASES / f"{case}.cu", tmp_path)
    lines = text.splitlines()
    (keep,) = keeps(lines)
    (fence,) = keep.fences
    changed = shaken(text)
    assert changed is not None
    before, behind = changed.split(f"{lines[fence]}\n", 1)
    store = lines[keep.store].strip()
    given_up = before[before.rindex(store) - 2000 :]
    assert given_up.rstrip().endswith("mov.pred %optiml_h, 0;")
    assert "@%optiml_h nanosleep" not in before
    # Behind the count, in front of the next barrier.
    late = behind.index("@%optiml_h nanosleep.u32 %optiml_z;")
    assert behind.index("atom.") < late < behind.index(store)
    assembled(changed, tmp_path)


@needs_nvcc
def test_nothing_is_kept_of_stores_that_their_own_thread_or_the_counting_one_fences(
    tmp_path: Path,
) -> None:
    """Behind the barrier by the one thread that counts, or before it by all."""
    keep = compiled(CASES / "cliff" / "lastblock.cu", tmp_path)
    assert keeps(keep.splitlines()) == []
    first = (CASES / "cliff" / "fencefirst.cu").read_text()
    by_all = tmp_path / "by_all.cu"
    one = "if (threadIdx.x == 0)\n        __threadfence(); "
    assert one in first
    by_all.write_text(first.replace(one, "__threadfence(); "))
    assert keeps(compiled(by_all, tmp_path).splitlines()) == []


@needs_nvcc
@pytest.mark.parametrize("case", SWAPPED)
def test_the_red_teams_shares_are_told_apart(case: str, tmp_path: Path) -> None:
    """A share that is counted without a fence is moved; with one, however it is written, never."""
    text = compiled(CASES / f"{case}.cu", tmp_path)
    lines = text.splitlines()
    assert [lines[one.signal].split()[0] for one in swaps(lines)] == SWAPPED[case]
    changed = shaken(text)
    assert changed is not None
    assert LATE in changed
    assembled(changed, tmp_path)
