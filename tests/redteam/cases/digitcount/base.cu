// Upsweep of a radix sort of floats: how often each 8-bit digit (bits 16..23 of the sortable key) occurs
// in each tile of 4096 keys, stored digit-major for the scan. Zeros of both signs share the key of +0.
#include <cuda_runtime.h>
#define TILE 4096

__device__ __forceinline__ unsigned sortable(float f) {
    unsigned u = f == 0.f ? 0u : __float_as_uint(f);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

extern "C" __global__ void digitcount(const float* keys, unsigned* counts, int n, int tiles) {
    __shared__ unsigned hist[256];
    hist[threadIdx.x] = 0;
    __syncthreads();
    const int begin = blockIdx.x * TILE, end = min(begin + TILE, n);
    for (int i = begin + threadIdx.x; i < end; i += 256)
        atomicAdd(&hist[(sortable(keys[i]) >> 16) & 255u], 1u);
    __syncthreads();
    counts[(size_t)threadIdx.x * tiles + blockIdx.x] = hist[threadIdx.x];
}
