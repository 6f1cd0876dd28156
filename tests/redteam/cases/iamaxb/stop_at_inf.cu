// Batched i?amax; a thread leaves its sweep as soon as it holds something that nothing behind can beat.
#include <cuda_runtime.h>
#include <limits.h>
#include <math_constants.h>

struct Best { float mag; int at; };

__device__ __forceinline__ bool beats(Best a, Best b) {
    const bool na = isnan(a.mag), nb = isnan(b.mag);
    if (na != nb) return na;
    if (!na && a.mag != b.mag) return a.mag > b.mag;
    return a.at < b.at;
}

extern "C" __global__ void iamaxb(const float* __restrict__ x, int* __restrict__ where,
                                  float* __restrict__ value, int batch, int n) {
    __shared__ Best parts[8];
    const float* row = x + (size_t)blockIdx.x * n;
    Best mine = {-1.f, INT_MAX};
    for (int i = threadIdx.x; i < n; i += 256) {
        const Best other = {fabsf(row[i]), i};
        if (beats(other, mine)) {
            mine = other;
            if (!(mine.mag < CUDART_INF_F)) break;
        }
    }
    for (int o = 16; o; o >>= 1) {
        const Best other = {__shfl_xor_sync(~0u, mine.mag, o), __shfl_xor_sync(~0u, mine.at, o)};
        if (beats(other, mine)) mine = other;
    }
    if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = mine;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w) if (beats(parts[w], mine)) mine = parts[w];
        where[blockIdx.x] = mine.at + 1;
        value[blockIdx.x] = row[mine.at];
    }
}
