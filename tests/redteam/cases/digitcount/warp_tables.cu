// Upsweep of a radix sort of floats. A table for every warp, so that counting needs no barrier of the
// block before the tables are added up.
#include <cuda_runtime.h>
#define TILE 4096

__device__ __forceinline__ unsigned sortable(float f) {
    unsigned u = f == 0.f ? 0u : __float_as_uint(f);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

extern "C" __global__ void __launch_bounds__(256)
digitcount(const float* __restrict__ keys, unsigned* __restrict__ counts, int n, int tiles) {
    __shared__ unsigned hist[8][256];
    const int lane = threadIdx.x & 31;
    unsigned* mine = hist[threadIdx.x >> 5];
    for (int i = threadIdx.x; i < 8 * 256; i += 256) (&hist[0][0])[i] = 0;
    __syncwarp();
    const int begin = blockIdx.x * TILE, end = min(begin + TILE, n);
    for (int i = begin + (threadIdx.x >> 5) * 512 + lane; i < min(begin + (int)(threadIdx.x >> 5) * 512 + 512, end); i += 32)
        atomicAdd(&mine[(sortable(keys[i]) >> 16) & 255u], 1u);
    __syncthreads();
    unsigned sum = 0;
#pragma unroll
    for (int w = 0; w < 8; ++w) sum += hist[w][threadIdx.x];
    counts[(size_t)threadIdx.x * tiles + blockIdx.x] = sum;
}
