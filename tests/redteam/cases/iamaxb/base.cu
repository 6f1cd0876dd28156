// Batched i?amax with LAPACK's manners: for every row the one-based position of the largest magnitude and
// the (signed) number there. The first of equals wins; a NaN beats everything, and the first NaN wins.
#include <cuda_runtime.h>
#include <limits.h>

struct Best { float mag; int at; };

__device__ __forceinline__ bool beats(Best a, Best b) {
    const bool na = isnan(a.mag), nb = isnan(b.mag);
    if (na != nb) return na;
    if (!na && a.mag != b.mag) return a.mag > b.mag;
    return a.at < b.at;
}

extern "C" __global__ void iamaxb(const float* x, int* where, float* value, int batch, int n) {
    __shared__ Best parts[256];
    const float* row = x + (size_t)blockIdx.x * n;
    Best mine = {-1.f, INT_MAX};
    for (int i = threadIdx.x; i < n; i += 256) {
        const Best other = {fabsf(row[i]), i};
        if (beats(other, mine)) mine = other;
    }
    parts[threadIdx.x] = mine;
    __syncthreads();
    for (int s = 128; s; s >>= 1) {
        if (threadIdx.x < s && beats(parts[threadIdx.x + s], parts[threadIdx.x])) parts[threadIdx.x] = parts[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        where[blockIdx.x] = parts[0].at + 1;
        value[blockIdx.x] = row[parts[0].at];
    }
}
