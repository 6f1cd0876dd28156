"""On a real GPU: shared memory is full at a kernel's entry, and whoever writes there finds his own."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from runners.compiler import Compiler
from runners.dispatch import discover
from runners.sandbox import Sandbox
from runners.seeded import LATE_BIT
from runners.shaking import shaken
from runners.toolchain import find_toolchain

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.beside,
    pytest.mark.timeout(300),
    pytest.mark.skipif(
        not Path("/dev/nvidiactl").exists() or shutil.which("nvcc") is None,
        reason="needs an NVIDIA GPU and nvcc",
    ),
]
CASES = Path(__file__).parents[1] / "redteam" / "cases" / "shallow"
LARGE, OTHER = 3 | 1 << LATE_BIT, 3

# How many words are large, how many are no number or negative, and how many anything else.
LOOKS = r"""#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>
extern __shared__ unsigned wide[];
__device__ void seen(unsigned at, unsigned words, unsigned* counts) {
    int t = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    for (unsigned i = t; i < words; i += blockDim.x * blockDim.y * blockDim.z) {
        unsigned v;
        asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(at + 4 * i));
        atomicAdd(&counts[v == 0x7B7B7B7Bu || v == 0x7A7A7A7Au ? 0
                          : v == 0xFFFDFFFDu || v == 0xFBFBFBFBu ? 1 : 2], 1);
    }
}
__device__ __noinline__ void apart(unsigned* counts) {
    __shared__ double own[100];
    seen((unsigned)__cvta_generic_to_shared(own), 200, counts);
}
// Threads leave full places behind, as an earlier block does.
__global__ void looks(unsigned* counts, unsigned dynamic) {
    __shared__ unsigned fixed[700];
    __shared__ unsigned char few[3];
    unsigned at = (unsigned)__cvta_generic_to_shared(fixed);
    seen(at, 700, counts);
    apart(counts);
    seen((unsigned)__cvta_generic_to_shared(wide), dynamic / 4, counts);
    __syncthreads();  // nobody writes what another one has not seen yet, however late that one is
    asm volatile("st.shared.u8 [%0], 1;" ::"r"((unsigned)__cvta_generic_to_shared(few)));
    asm volatile("st.shared.u32 [%0], 1;" ::"r"(at + 4 * (threadIdx.x % 700)));
}
#if __CUDA_ARCH__ >= 900
__global__ void __cluster_dims__(2, 1, 1) neighbours(unsigned* wrong) {
    __shared__ unsigned theirs[256];
    auto cluster = cooperative_groups::this_cluster();
    cluster.sync();
    unsigned rank = cluster.block_rank();
    cluster.map_shared_rank(theirs, rank ^ 1)[threadIdx.x] = 7 * threadIdx.x + rank;
    cluster.sync();
    if (theirs[threadIdx.x] != 7 * threadIdx.x + (rank ^ 1)) atomicAdd(wrong, 1);
}
// What a bulk copy brings must not be what a thread stored before it.
__global__ void bulk(const unsigned* from, unsigned* wrong) {
    __shared__ alignas(128) unsigned part[1024];
    __shared__ alignas(8) unsigned long long there;
    unsigned to = (unsigned)__cvta_generic_to_shared(part), bar = (unsigned)__cvta_generic_to_shared(&there);
    const unsigned* mine = from + blockIdx.x * 1024;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 4096;" ::"r"(bar) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 4096, [%2];"
                     ::"r"(to), "l"(mine), "r"(bar) : "memory");
    }
    __syncthreads();
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(bar) : "memory");
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        if (part[i] != mine[i]) atomicAdd(wrong, 1);
}
#else
__global__ void neighbours(unsigned*) {}
__global__ void bulk(const unsigned*, unsigned*) {}
#endif
static void look(dim3 grid, dim3 block, unsigned dynamic, unsigned* counts) {
    for (int i = 0; i < 3; ++i) counts[i] = 0;
    cudaFuncSetAttribute(looks, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic);
    looks<<<grid, block, dynamic>>>(counts, dynamic);
    cudaError_t error = cudaDeviceSynchronize();
    unsigned long long words = grid.x * (900ull + dynamic / 4);
    bool one = counts[0] == words && !counts[1], other = counts[1] == words && !counts[0];
    printf("%s\n", error ? cudaGetErrorString(error) : counts[2] || !(one || other) ? "left" : one ? "large" : "other");
}
int main() {
    unsigned *counts, *from;
    cudaMallocManaged(&counts, 12);
    cudaMallocManaged(&from, 500 * 4096);
    for (int i = 0; i < 500 * 1024; ++i) from[i] = 3 * i + 1;
    int most = 0;
    cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0);
    look(3, 256, 0, counts);
    look(2, dim3(8, 4, 3), 1000, counts);
    look(5, 1, 8192, counts);
    look(1000, 1024, 40000, counts);
    look(300, 77, most - 4096, counts);
    counts[0] = counts[1] = 0;
    neighbours<<<2000, 256>>>(counts);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    for (int i = 0; i < 20; ++i) bulk<<<500, 128>>>(from, counts + 1);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("%u %u\n", counts[0], counts[1]);
    return 0;
}
"""


@pytest.fixture(scope="module")
def compiler(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Compiler]:
    with Sandbox("own") as sandbox:
        yield Compiler(find_toolchain(), sandbox, tmp_path_factory.mktemp("filled"))


def printed(compiler: Compiler, text: str, seed: int, *arguments: str) -> list[str]:
    """Return what a program prints under delays, with shared memory filled as a seed says."""
    made = compiler.altered(
        text,
        lambda ptx: shaken(ptx, seed),
        path="a.cu",
        kind="program",
        sm=discover()[0].capability,
        variant=f"{seed:x}",
    )
    assert made is not None
    return subprocess.run(
        [made.path, *arguments], check=True, capture_output=True, text=True, timeout=120
    ).stdout.splitlines()


@pytest.mark.parametrize(("seed", "kind"), [(LARGE, "large"), (OTHER, "other")])
def test_every_word_is_filled_and_nothing_that_comes_later_is_lost(
    compiler: Compiler, seed: int, kind: str
) -> None:
    """Static, a function's and dynamic memory of small and of the largest blocks; no error."""
    assert printed(compiler, LOOKS, seed) == [kind] * 5 + ["no error"] * 2 + ["0 0"]


def test_a_block_that_reads_what_another_left_is_wrong_under_large_numbers(
    compiler: Compiler,
) -> None:
    """Its original and a right candidate print what they always do, in both builds."""
    names = ("base", "block_then_device", "warps_that_have_left")
    texts = {name: (CASES / f"{name}.cu").read_text() for name in names}
    right = printed(compiler, texts["base"], LARGE, "701", "33")
    for seed in (LARGE, OTHER):
        for name in names[:2]:
            assert printed(compiler, texts[name], seed, "701", "33") == right
    assert printed(compiler, texts[names[2]], LARGE, "701", "33") != right
