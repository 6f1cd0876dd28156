// Batched i?amax; shuffles instead of the tree in shared memory. A value from a higher lane is taken only
// when it is strictly better, which keeps the first of equals.
#include <cuda_runtime.h>
#include <limits.h>

__device__ __forceinline__ bool beats(float a, int i, float b, int j) {
    const bool na = isnan(a), nb = isnan(b);
    if (na && nb) return i < j;
    return na || a > b;
}

extern "C" __global__ void iamaxb(const float* __restrict__ x, int* __restrict__ where,
                                  float* __restrict__ value, int batch, int n) {
    __shared__ float mags[8];
    __shared__ int ats[8];
    const float* row = x + (size_t)blockIdx.x * n;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    float mag = -1.f;
    int at = INT_MAX;
    for (int i = threadIdx.x; i < n; i += 256) {
        const float m = fabsf(row[i]);
        if (!isnan(mag) && beats(m, i, mag, at)) { mag = m; at = i; }
    }
    for (int o = 16; o; o >>= 1) {
        const float m = __shfl_down_sync(~0u, mag, o);
        const int a = __shfl_down_sync(~0u, at, o);
        if (lane + o < 32 && (isnan(m) || !isnan(mag)) && beats(m, a, mag, at)) { mag = m; at = a; }
    }
    if (lane == 0) { mags[warp] = mag; ats[warp] = at; }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int w = 1; w < 8; ++w)
            if ((isnan(mags[w]) || !isnan(mag)) && beats(mags[w], ats[w], mag, at)) { mag = mags[w]; at = ats[w]; }
        where[blockIdx.x] = at + 1;
        value[blockIdx.x] = row[at];
    }
}
