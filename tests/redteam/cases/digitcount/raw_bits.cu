// Upsweep of a radix sort of floats. Keys are read four at a time as raw bits and made sortable with a
// signed shift; zeros are brought together on the sortable side.
#include <cuda_runtime.h>
#define TILE 4096

__device__ __forceinline__ unsigned sortable(unsigned u) {
    const unsigned k = u ^ ((unsigned)((int)u >> 31) | 0x80000000u);
    return k == 0x80000000u ? 0x80000000u : k;
}

extern "C" __global__ void __launch_bounds__(256)
digitcount(const float* __restrict__ keys, unsigned* __restrict__ counts, int n, int tiles) {
    __shared__ unsigned hist[256];
    hist[threadIdx.x] = 0;
    __syncthreads();
    const int begin = blockIdx.x * TILE, end = min(begin + TILE, n);
    auto count = [&](unsigned u) { atomicAdd(&hist[(sortable(u) >> 16) & 255u], 1u); };
    for (int i = begin + threadIdx.x * 4; i < end; i += 1024) {
        if (i + 3 < end) {
            const uint4 v = *(const uint4*)(keys + i);
            count(v.x); count(v.y); count(v.z); count(v.w);
        } else {
            for (int j = i; j < end; ++j) count(__float_as_uint(keys[j]));
        }
    }
    __syncthreads();
    counts[(size_t)threadIdx.x * tiles + blockIdx.x] = hist[threadIdx.x];
}
