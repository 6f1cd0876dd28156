// Batched i?amax; eight blocks a row, the last of them to finish joins the parts. The ticket runs round
// by itself (atomicInc), so that the next launch finds it at zero.
#include <cuda_runtime.h>
#include <limits.h>
#define PARTS 8
#define KEPT 4096

struct Best { float mag; int at; };
__device__ Best found[KEPT][PARTS];
__device__ unsigned ticket[KEPT];

__device__ __forceinline__ bool beats(Best a, Best b) {
    const bool na = isnan(a.mag), nb = isnan(b.mag);
    if (na != nb) return na;
    if (!na && a.mag != b.mag) return a.mag > b.mag;
    return a.at < b.at;
}

extern "C" __global__ void __launch_bounds__(256)
iamaxb(const float* __restrict__ x, int* __restrict__ where, float* __restrict__ value, int batch, int n) {
    __shared__ Best parts[8];
    const int b = blockIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const bool alone = b >= KEPT;                        // no room to share: the first block does the row
    if (alone && blockIdx.y) return;
    const float* row = x + (size_t)b * n;
    Best mine = {-1.f, INT_MAX};
    const int step = alone ? 256 : 256 * PARTS;
    for (long long i = blockIdx.y * 256 + threadIdx.x; i < n; i += step) {
        const Best other = {fabsf(row[i]), (int)i};
        if (beats(other, mine)) mine = other;
    }
    for (int o = 16; o; o >>= 1) {
        const Best other = {__shfl_xor_sync(~0u, mine.mag, o), __shfl_xor_sync(~0u, mine.at, o)};
        if (beats(other, mine)) mine = other;
    }
    if (lane == 0) parts[warp] = mine;
    __syncthreads();
    if (threadIdx.x) return;
    for (int w = 1; w < 8; ++w) if (beats(parts[w], mine)) mine = parts[w];
    if (!alone) {
        found[b][blockIdx.y] = mine;
        __threadfence();
        if (atomicInc(&ticket[b], PARTS) != PARTS - 1) return;
        __threadfence();
        for (int p = 0; p < PARTS; ++p) {
            const Best other = {__ldcg(&found[b][p].mag), __ldcg(&found[b][p].at)};
            if (beats(other, mine)) mine = other;
        }
    }
    where[b] = mine.at + 1;
    value[b] = row[mine.at];
}
