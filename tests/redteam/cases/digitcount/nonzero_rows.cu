// Upsweep of a radix sort of floats; a thread counts sixteen keys that it fetched up front, and only digits
// that occur are written, which spares most of the strided stores of clustered keys.
#include <cuda_runtime.h>
#define TILE 4096

__device__ __forceinline__ unsigned sortable(float f) {
    unsigned u = f == 0.f ? 0u : __float_as_uint(f);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

extern "C" __global__ void __launch_bounds__(256)
digitcount(const float* __restrict__ keys, unsigned* __restrict__ counts, int n, int tiles) {
    __shared__ unsigned hist[256];
    hist[threadIdx.x] = 0;
    const int begin = blockIdx.x * TILE + threadIdx.x;
    float k[16];
#pragma unroll
    for (int p = 0; p < 16; ++p) k[p] = begin + p * 256 < n ? keys[begin + p * 256] : 0.f;
    __syncthreads();
#pragma unroll
    for (int p = 0; p < 16; ++p)
        if (begin + p * 256 < n) atomicAdd(&hist[(sortable(k[p]) >> 16) & 255u], 1u);
    __syncthreads();
    const unsigned h = hist[threadIdx.x];
    if (h) counts[(size_t)threadIdx.x * tiles + blockIdx.x] = h;
}
