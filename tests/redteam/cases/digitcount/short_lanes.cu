// Upsweep of a radix sort of floats. Two digits a word with sixteen bits each (a tile has 4096 keys, so a
// field cannot run over), two tables taken in turn by the warps to halve the contention.
#include <cuda_runtime.h>
#define TILE 4096

__device__ __forceinline__ unsigned sortable(float f) {
    unsigned u = f == 0.f ? 0u : __float_as_uint(f);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

extern "C" __global__ void __launch_bounds__(256)
digitcount(const float* __restrict__ keys, unsigned* __restrict__ counts, int n, int tiles) {
    __shared__ unsigned hist[2][128];
    (&hist[0][0])[threadIdx.x] = 0;
    __syncthreads();
    unsigned* mine = hist[(threadIdx.x >> 5) & 1];
    const int begin = blockIdx.x * TILE, end = min(begin + TILE, n);
    for (int i = begin + threadIdx.x; i < end; i += 256) {
        const unsigned d = (sortable(keys[i]) >> 16) & 255u;
        atomicAdd(&mine[d >> 1], 1u << (16 * (d & 1)));
    }
    __syncthreads();
    // fields of both tables add up to 4096 at most: no carry between them
    const unsigned both = hist[0][threadIdx.x >> 1] + hist[1][threadIdx.x >> 1];
    counts[(size_t)threadIdx.x * tiles + blockIdx.x] = (both >> (16 * (threadIdx.x & 1))) & 0xffffu;
}
