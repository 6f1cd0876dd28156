"""Each primitive of the emulation gives what a plain loop gives."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from runners.gpu import DeviceError, HungError, LaunchError
from tests.emulation import library
from tests.emulation.gpu import EmulatedGpu, artifact, plain

pytestmark = pytest.mark.skipif(
    library.COMPILER is None or library.cuda_headers() is None,
    reason="g++ and CUDA's headers are needed",
)

Ints = npt.NDArray[np.int32]
RNG = np.random.default_rng(3)


def launched(
    folder: Path,
    body: str,
    *arrays: npt.NDArray[Any],
    grid: int = 1,
    block: int = 64,
    shared: int = 0,
    above: str = "",
    seed: int = 0,
    times: int = 1,
) -> None:
    """Run a body whose arrays are a, b, c... (ints, or floats by their type), in place."""
    kinds = {"i": "int", "u": "unsigned", "f": "float"}
    names = [
        f"{kinds[one.dtype.kind] if one.dtype.itemsize == 4 else 'double'}* {name}"
        for one, name in zip(arrays, "abcdef", strict=False)
    ]
    text = f"{above}\n__global__ void k({', '.join(names)}) {{ {body} }}"
    gpu = EmulatedGpu()
    module = gpu.load(Path(artifact(text, "k", folder, shaken=True)["path"]).read_bytes())
    module.seed = seed
    places = [gpu.allocate(one.nbytes) for one in arrays]
    for place, one in zip(places, arrays, strict=True):
        gpu.upload(place, one)
    packed = struct.pack(f"{len(places)}Q", *places)
    for _ in range(times):
        gpu.launch(gpu.function(module, "k", shared), (grid, 1, 1), (block, 1, 1), packed, shared)
    for place, one in zip(places, arrays, strict=True):
        one[...] = gpu.download(place, one.nbytes).view(one.dtype)


def ints(count: int) -> Ints:
    return RNG.integers(-1000, 1000, count).astype(np.int32)


@pytest.mark.parametrize("seed", [0, 7])
def test_a_barrier_lets_all_see_what_all_have_written(tmp_path: Path, seed: int) -> None:
    """In a tree in shared memory, and in one that the launch sized."""
    a, out = ints(512), np.zeros(2, np.int32)
    body = """
        {room}
        int t = threadIdx.x;
        s[t] = a[blockIdx.x * 256 + t];
        __syncthreads();
        for (int d = 128; d; d >>= 1) {{ if (t < d) s[t] += s[t + d]; __syncthreads(); }}
        if (t == 0) b[blockIdx.x] = s[0];"""
    for room, size in (("__shared__ int s[256];", 0), ("extern __shared__ int s[];", 1024)):
        out[:] = 0
        text = body.format(room=room)
        launched(tmp_path, text, a, out, grid=2, block=256, shared=size, seed=seed)
        assert out.tolist() == a.reshape(2, 256).sum(1).tolist()


def test_barriers_that_count(tmp_path: Path) -> None:
    a, out = ints(96), np.zeros(3, np.int32)
    body = """
        int p = a[threadIdx.x] > 0;
        int n = __syncthreads_count(p), all = __syncthreads_and(p + 1), any = __syncthreads_or(p);
        if (threadIdx.x == 95) { b[0] = n; b[1] = all; b[2] = any; }"""
    launched(tmp_path, body, a, out, block=96)
    assert out.tolist() == [int((a > 0).sum()), 1, 1]


def test_those_that_have_ended_are_not_waited_for(tmp_path: Path) -> None:
    a, out = ints(70), np.zeros(70, np.int32)
    body = """
        __shared__ int s[70];
        int t = threadIdx.x;
        s[t] = a[t];
        if (t >= 40) return;
        __syncthreads();
        b[t] = s[39 - t] + __shfl_xor_sync(~0u, s[t], 1);"""
    launched(tmp_path, body, a, out, block=70)
    assert out[:40].tolist() == [int(a[39 - t] + a[t ^ 1]) for t in range(40)]


def source(kind: str, lane: int, by: int, width: int) -> int:
    base, at = lane // width * width, lane % width
    if kind == "":
        return base + by % width
    if kind == "_up":
        return lane if at < by else lane - by
    if kind == "_down":
        return lane if at + by >= width else lane + by
    return lane ^ by if (lane ^ by) // width * width <= base else lane


@pytest.mark.parametrize("kind", ["", "_up", "_down", "_xor"])
@pytest.mark.parametrize(("by", "width"), [(1, 32), (3, 8), (16, 32), (9, 16), (5, 4)])
@pytest.mark.parametrize("seed", [0, 3])
def test_shuffles(tmp_path: Path, kind: str, by: int, width: int, seed: int) -> None:
    a, out, wide = ints(64), np.zeros(64, np.int32), np.zeros(64, np.float64)
    body = f"""
        int t = threadIdx.x;
        b[t] = __shfl{kind}_sync(~0u, a[t], {by}, {width});
        c[t] = __shfl{kind}_sync(~0u, a[t] * 0.5, {by}, {width});"""
    launched(tmp_path, body, a, out, wide, seed=seed)
    wanted = [int(a[t // 32 * 32 + source(kind, t % 32, by, width)]) for t in range(64)]
    assert out.tolist() == wanted
    assert wide.tolist() == [0.5 * one for one in wanted]


def test_votes_and_matches(tmp_path: Path) -> None:
    a, out = (ints(64) % 3).astype(np.int32), np.zeros((9, 64), np.uint32)
    body = """
        int t = threadIdx.x, p = a[t] == 1, all;
        b[t] = __ballot_sync(~0u, p);
        b[64 + t] = __any_sync(~0u, p);
        b[128 + t] = __all_sync(~0u, a[t] < 3);
        b[192 + t] = __match_any_sync(~0u, a[t]);
        b[256 + t] = __match_all_sync(~0u, a[t] < 9, &all) + all;
        b[320 + t] = __reduce_add_sync(~0u, a[t]);
        b[384 + t] = __reduce_min_sync(~0u, a[t] - 5);
        b[448 + t] = __reduce_max_sync(~0u, (unsigned)a[t]);
        b[512 + t] = p ? __ballot_sync(__activemask(), 1) : 0;"""
    launched(tmp_path, body, a, out.reshape(-1))
    for t in range(64):
        mine = a[t // 32 * 32 :][:32]
        ballot = sum(1 << lane for lane in range(32) if mine[lane] == 1)
        same = sum(1 << lane for lane in range(32) if mine[lane] == a[t])
        active = ballot if a[t] == 1 else 0
        reduced = [int(mine.sum()), int(mine.min() - 5) % 2**32, int(mine.max())]
        assert out[:, t].tolist() == [ballot, 1, 1, same, 0, *reduced, active], t


def test_parts_of_a_warp_shuffle_on_their_own(tmp_path: Path) -> None:
    a, out = ints(32), np.zeros(32, np.int32)
    body = """
        int t = threadIdx.x, v = a[t];
        if (t < 8) for (int d = 4; d; d >>= 1) v += __shfl_xor_sync(0xFFu, v, d);
        else if (t & 1) v = __shfl_sync(0xAAAAAA00u, v, 31);
        b[t] = v;"""
    launched(tmp_path, body, a, out, block=32)
    wanted = [int(a[:8].sum())] * 8 + [int(a[31] if t & 1 else a[t]) for t in range(8, 32)]
    assert out.tolist() == wanted


@pytest.mark.parametrize("suffix", ["", "_block", "_system"])
def test_atomics(tmp_path: Path, suffix: str) -> None:
    a = ints(128)
    out = np.array([0, 99999, -99999, 0, 0, 0, 0, 0, 0], np.int32)
    words, halves = np.array([0, 0, 2**32 - 1, 0], np.uint32), np.zeros(2, np.float64)
    body = f"""
        int i = blockIdx.x * 64 + threadIdx.x, v = a[i];
        atomicAdd{suffix}(&b[0], v); atomicMin{suffix}(&b[1], v); atomicMax{suffix}(&b[2], v);
        atomicSub{suffix}(&b[3], v); atomicOr{suffix}(&b[4], v); atomicXor{suffix}(&b[5], v);
        int old = b[6], seen;
        do {{ seen = old; old = atomicCAS{suffix}(&b[6], seen, seen + v); }} while (old != seen);
        if (atomicExch{suffix}(&b[7], 1) == 0) atomicAdd{suffix}(&b[8], 1);
        atomicInc{suffix}(&c[0], 9); atomicDec{suffix}(&c[1], 9);
        atomicAnd{suffix}(&c[2], (unsigned)(v | 7)); atomicAdd{suffix}(&c[3], 3u);
        atomicAdd{suffix}(&d[0], v * 0.5);
        atomicAdd{suffix}((unsigned long long*)&d[1], 1ull << 40);"""
    launched(tmp_path, body, a, out, words, halves, grid=2)
    total = int(a.sum())
    either, other, both = 0, 0, -1
    for one in a.tolist():
        either, other, both = either | one, other ^ one, both & (one | 7)
    wanted = [total, int(a.min()), int(a.max()), -total, either, other, total, 1, 1]
    assert out.tolist() == wanted
    assert words.tolist() == [128 % 10, (10 - 128 % 10) % 10, both % 2**32, 384]
    assert halves[0] == total * 0.5
    assert int(halves.view(np.uint64)[1]) == 128 << 40


def test_the_last_block_is_told_apart(tmp_path: Path) -> None:
    """A counter of a module stays from launch to launch."""
    a, out = ints(512), np.zeros(9, np.int32)
    body = """
        __shared__ bool last;
        atomicAdd(&b[blockIdx.x], a[blockIdx.x * 64 + threadIdx.x]);
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
        __syncthreads();
        if (last && threadIdx.x == 0)
            for (int i = 0; i < 8; ++i) b[8] += ((volatile int*)b)[i];"""
    launched(tmp_path, body, a, out, grid=8, above="__device__ unsigned arrived;", times=2)
    assert out[8] == 3 * a.sum()


def test_blocks_wait_for_others(tmp_path: Path) -> None:
    """Each for the one behind it: none could end where blocks ran one after another."""
    out = np.zeros(12, np.int32)
    body = """
        if (threadIdx.x == 0) {
            volatile int* next = a + blockIdx.x + 1;
            if (blockIdx.x + 1 < gridDim.x) while (*next == 0) {}
            a[blockIdx.x] = 1 + (blockIdx.x + 1 < gridDim.x ? *next : 0);
        }
        __syncthreads();"""
    launched(tmp_path, body, out, grid=12)
    assert out.tolist() == list(range(12, 0, -1))


def test_shared_memory_is_each_blocks_own(tmp_path: Path) -> None:
    """It is kept while others run, and holds nothing that an earlier block has left."""
    out = np.zeros(12, np.int32)
    body = """
        __shared__ int mine;
        extern __shared__ int more[];
        if (threadIdx.x == 0) { b[blockIdx.x] = blockIdx.x && mine == (int)blockIdx.x - 1; mine = more[3] = blockIdx.x; }
        cg::this_grid().sync();
        a[blockIdx.x] = mine + more[3];"""
    seen, above = (
        np.ones(12, np.int32),
        "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;",
    )
    launched(tmp_path, body, out, seen, grid=12, shared=64, above=above)
    assert out.tolist() == [2 * block for block in range(12)]
    assert not seen.any()


def test_groups_of_cooperative_groups(tmp_path: Path) -> None:
    a, out = ints(64), np.zeros((4, 64), np.int32)
    above = """
        #include <cooperative_groups.h>
        #include <cooperative_groups/reduce.h>
        namespace cg = cooperative_groups;"""
    body = """
        auto block = cg::this_thread_block();
        auto tile = cg::tiled_partition<8>(block);
        int t = block.thread_rank(), v = a[t];
        b[t] = cg::reduce(tile, v, cg::plus<int>());
        b[64 + t] = tile.shfl_down(v, 3) + 100 * tile.thread_rank() + tile.meta_group_rank();
        b[128 + t] = -1;
        if (v > 0) { auto some = cg::coalesced_threads(); b[128 + t] = some.size() * 100 + some.thread_rank(); }
        block.sync();
        b[192 + t] = cg::reduce(cg::tiled_partition<32>(block), v, cg::greater<int>());"""
    launched(tmp_path, body, a, out.reshape(-1), above=above)
    for t in range(64):
        tile, warp, rank = a[t // 8 * 8 :][:8], a[t // 32 * 32 :][:32], t % 8
        assert out[0, t] == tile.sum()
        down = tile[rank + 3] if rank + 3 < 8 else tile[rank]
        assert out[1, t] == down + 100 * rank + t // 8
        before = int((warp[: t % 32] > 0).sum())
        assert out[2, t] == (int((warp > 0).sum()) * 100 + before if a[t] > 0 else -1)
        assert out[3, t] == warp.max()


def test_intrinsics_of_bits(tmp_path: Path) -> None:
    a = RNG.integers(0, 2**32, 64).astype(np.uint32)
    out = np.zeros((10, 64), np.uint32)
    body = """
        unsigned t = threadIdx.x, v = a[t], w = a[63 - t];
        b[t] = __popc(v); b[64 + t] = __clz(v); b[128 + t] = __ffs(v & 0xFFFF0); b[192 + t] = __brev(v);
        b[256 + t] = __byte_perm(v, w, 0x6512); b[320 + t] = __funnelshift_l(v, w, 11);
        b[384 + t] = __funnelshift_r(v, w, 43); b[448 + t] = __umulhi(v, w);
        b[512 + t] = __mul24((int)v, (int)w); b[576 + t] = __vsadu4(v, w);"""
    launched(tmp_path, body, a, out.reshape(-1))
    for t in range(64):
        v, w = int(a[t]), int(a[63 - t])
        both = w << 32 | v
        bits, low = f"{v:032b}", v & 0xFFFF0
        octets = both.to_bytes(8, "little")
        signed = [((one & 0xFFFFFF) ^ 0x800000) - 0x800000 for one in (v, w)]
        sad = sum(abs(x - y) for x, y in zip(octets[:4], octets[4:], strict=True))
        assert out[:, t].tolist() == [
            v.bit_count(),
            32 - v.bit_length(),
            (low & -low).bit_length(),
            int(bits[::-1], 2),
            int.from_bytes(bytes(octets[i] for i in (2, 1, 5, 6)), "little"),
            (both << 11 >> 32) % 2**32,
            (both >> 11) % 2**32,
            v * w >> 32,
            signed[0] * signed[1] % 2**32,
            sad,
        ]


def test_numbers_and_halves(tmp_path: Path) -> None:
    a = RNG.normal(0, 3, 64).astype(np.float32)
    out = np.zeros((6, 64), np.float32)
    body = """
        int t = threadIdx.x;
        float v = a[t];
        b[t] = rsqrtf(fabsf(v)); b[64 + t] = __half2float(__float2half(v));
        b[128 + t] = __bfloat162float(__float2bfloat16(v)); b[192 + t] = __float2int_rn(v * 1e10f);
        b[256 + t] = max(v, 1.f) + min(3, (int)blockDim.x); b[320 + t] = __expf(v);"""
    launched(tmp_path, body, a, out.reshape(-1))
    rounded = (a.view(np.uint32) + 0x7FFF + (a.view(np.uint32) >> 16 & 1)) & 0xFFFF0000
    assert np.allclose(out[0], 1 / np.sqrt(np.abs(a.astype(np.float64))), rtol=2e-7)
    assert (out[1] == a.astype(np.float16).astype(np.float32)).all()
    assert (out[2] == rounded.astype(np.uint32).view(np.float32)).all()
    assert (
        out[3] == np.clip(np.rint((a * np.float32(1e10)).astype(np.float64)), -(2.0**31), 2.0**31)
    ).all()
    assert (out[4] == np.maximum(a, 1) + 3).all()
    assert np.allclose(out[5], np.exp(a.astype(np.float64)), rtol=1e-5)


@pytest.mark.parametrize(
    ("body", "error", "words"),
    [
        ("*(int*)(threadIdx.x * 8ull) = 1;", DeviceError, "illegal memory"),
        ("a[1 << 19] = 1;", DeviceError, "illegal memory"),
        ("*(int2*)(a + 1) = make_int2(1, 2);", DeviceError, "misaligned"),
        ("while (((volatile int*)a)[0] == 0) {}", HungError, "too long"),
        ("if (threadIdx.x < 9) __syncthreads(); else __shfl_sync(~0u, 1, 0);", HungError, "wait"),
        ("__trap();", DeviceError, "ends a launch"),
    ],
)
def test_what_fails_is_an_error_and_the_next_launch_is_fine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, error: type[Exception], words: str
) -> None:
    monkeypatch.setattr("tests.emulation.gpu.LAUNCH_SECONDS", 0.2)
    a = np.zeros(64, np.int32)
    with pytest.raises(error, match=words):
        launched(tmp_path, body, a)
    launched(tmp_path, "a[threadIdx.x] = __shfl_xor_sync(~0u, threadIdx.x, 1);", a)
    assert a.tolist() == [t ^ 1 for t in range(64)]


def test_a_long_launch_is_no_hung_one(tmp_path: Path) -> None:
    out = np.zeros(64, np.int32)
    body = "int n = 0; for (int i = 0; i < 30000; ++i) n += __syncthreads_or(i & 1); a[threadIdx.x] = n;"
    launched(tmp_path, body, out)
    assert out.tolist() == [15000] * 64


def test_a_division_by_zero_ends_nothing(tmp_path: Path) -> None:
    a, out = np.array([7, 0, -9, 3], np.int32), np.zeros(4, np.int32)
    launched(
        tmp_path,
        "int t = threadIdx.x; b[t] = a[t] / a[1] == 1; b[t] += a[0] % a[3];",
        a,
        out,
        block=4,
    )
    assert out.tolist() == [1] * 4


def test_a_race_shows_in_one_of_two_launches(tmp_path: Path) -> None:
    """Threads begin in either order: whoever needs a barrier and has none is wrong in one."""
    wrong = 0
    for body in ("63 - threadIdx.x", "threadIdx.x / 2", "(threadIdx.x + 64) / 2"):
        out = np.zeros(64, np.int32)
        text = f"__shared__ int s[64]; s[threadIdx.x] = threadIdx.x; a[threadIdx.x] = s[{body}];"
        for times in (1, 2):
            launched(tmp_path, text, out, times=times)
            wanted = [eval(body, {"threadIdx": type("T", (), {"x": t})}) for t in range(64)]  # noqa: S307
            wrong += any(abs(got - int(want)) > 0 for got, want in zip(out, wanted, strict=True))
    assert wrong >= 3


@pytest.mark.parametrize("text", ['asm("mov.u32 %0, 1;" : "=r"(x));', "#include <mma.h>\n"])
def test_what_is_not_emulated_is_said(tmp_path: Path, text: str) -> None:
    with pytest.raises(library.NotEmulatedError, match="cannot be emulated"):
        artifact(f"__global__ void k() {{ }} {text}", "k", tmp_path)


def test_a_launch_that_asks_for_too_much_is_refused(tmp_path: Path) -> None:
    with pytest.raises(LaunchError):
        launched(tmp_path, "a[0] = 1;", np.zeros(1, np.int32), shared=300 << 10)


def test_names_of_variables() -> None:
    assert [plain(name) for name in ("_ZL5count", "count", "_ZN2ab3cdeE")] == [
        "count",
        "count",
        "cde",
    ]
