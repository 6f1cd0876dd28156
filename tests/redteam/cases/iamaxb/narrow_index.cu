// Batched i?amax; the tree keeps magnitudes and positions apart, positions as 16 bits (rows have at most
// 65536 elements), which takes a quarter of the shared traffic away.
#include <cuda_runtime.h>

__device__ __forceinline__ bool beats(float a, unsigned i, float b, unsigned j) {
    const bool na = isnan(a), nb = isnan(b);
    if (na != nb) return na;
    if (!na && a != b) return a > b;
    return i < j;
}

extern "C" __global__ void iamaxb(const float* __restrict__ x, int* __restrict__ where,
                                  float* __restrict__ value, int batch, int n) {
    __shared__ float mags[256];
    __shared__ unsigned short ats[256];
    const float* row = x + (size_t)blockIdx.x * n;
    const int t = threadIdx.x;
    float mag = -1.f;
    unsigned at = 0xffffu;
    for (int i = t; i < n; i += 256) {
        const float m = fabsf(row[i]);
        if (mag == -1.f || beats(m, i, mag, at)) { mag = m; at = i; }
    }
    mags[t] = mag;
    ats[t] = (unsigned short)at;
    __syncthreads();
    for (int s = 128; s; s >>= 1) {
        if (t < s && beats(mags[t + s], ats[t + s], mags[t], ats[t])) {
            mags[t] = mags[t + s];
            ats[t] = ats[t + s];
        }
        __syncthreads();
    }
    if (t == 0) {
        where[blockIdx.x] = ats[0] + 1;
        value[blockIdx.x] = row[ats[0]];
    }
}
