// Upsweep of a radix sort of floats. Every warp counts into a table of its own, four digits a word with
// eight bits each: a warp sees 512 keys of a tile, two of them a digit on the average.
#include <cuda_runtime.h>
#define TILE 4096

__device__ __forceinline__ unsigned sortable(float f) {
    unsigned u = f == 0.f ? 0u : __float_as_uint(f);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

extern "C" __global__ void __launch_bounds__(256)
digitcount(const float* __restrict__ keys, unsigned* __restrict__ counts, int n, int tiles) {
    __shared__ unsigned hist[8][64];
    const int warp = threadIdx.x >> 5;
    for (int i = threadIdx.x; i < 8 * 64; i += 256) (&hist[0][0])[i] = 0;
    __syncthreads();
    const int begin = blockIdx.x * TILE, end = min(begin + TILE, n);
    for (int i = begin + threadIdx.x; i < end; i += 256) {
        const unsigned d = (sortable(keys[i]) >> 16) & 255u;
        atomicAdd(&hist[warp][d >> 2], 1u << (8 * (d & 3)));
    }
    __syncthreads();
    unsigned sum = 0;
    for (int w = 0; w < 8; ++w) sum += (hist[w][threadIdx.x >> 2] >> (8 * (threadIdx.x & 3))) & 255u;
    counts[(size_t)threadIdx.x * tiles + blockIdx.x] = sum;
}
