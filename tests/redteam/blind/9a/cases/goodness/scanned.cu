#include <cuda_runtime.h>

__device__ __forceinline__ float pearson(long long seen, float expected)
{
    float off = (float)seen - expected;
    return expected > 0.0f ? off * off / expected : 0.0f;
}

// The expectations as prefix sums by a scan of the block (tiles of 128 bins), so that a pool closes where the difference
// of two of them reaches the least.
constexpr int kBins = 2048;

__global__ void goodness(const int* __restrict__ seen, const float* __restrict__ expected, float* __restrict__ chi,
                         int* __restrict__ pools, int rows, int bins, float least)
{
    __shared__ float prefix[kBins + 1];
    __shared__ float warps[4];
    int lane = threadIdx.x & 31;
    int kept = min(bins, kBins);
    float carry = 0.0f;
    if (threadIdx.x == 0)
        prefix[0] = 0.0f;
    for (int b0 = 0; b0 < kept; b0 += 128) {
        int b = b0 + threadIdx.x;
        float v = b < kept ? expected[b] : 0.0f;
        for (int o = 1; o < 32; o <<= 1) {
            float u = __shfl_up_sync(~0u, v, o);
            if (lane >= o)
                v += u;
        }
        if (lane == 31)
            warps[threadIdx.x >> 5] = v;
        __syncthreads();
        float base = carry;
        for (int w = 0; w < 4; ++w) {
            if (w < (int)(threadIdx.x >> 5))
                base += warps[w];
            carry += warps[w];
        }
        if (b < kept)
            prefix[b + 1] = base + v;
        __syncthreads();
    }
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const int* count = seen + (size_t)row * bins;
    if (bins > kBins) {
        float sum = 0.0f, poolExpected = 0.0f, openExpected = 0.0f;
        long long poolSeen = 0, openSeen = 0;
        int closed = 0, open = 0;
        for (int b = 0; b < bins; ++b) {
            openSeen += count[b];
            openExpected += expected[b];
            ++open;
            if (openExpected >= least) {
                sum += closed > 0 ? pearson(poolSeen, poolExpected) : 0.0f;
                poolSeen = openSeen;
                poolExpected = openExpected;
                ++closed;
                openSeen = 0;
                openExpected = 0.0f;
                open = 0;
            }
        }
        if (open > 0) {
            poolSeen += openSeen;
            poolExpected += openExpected;
            closed = max(closed, 1);
        }
        chi[row] = sum + pearson(poolSeen, poolExpected);
        pools[row] = closed;
        return;
    }
    float sum = 0.0f, weight = 0.0f, start = 0.0f;
    long long pool = 0, open = 0;
    int closed = 0;
    for (int b = 0; b < bins; ++b) {
        open += count[b];
        float now = prefix[b + 1];
        if (now - start >= least) {
            if (closed++)
                sum += pearson(pool, weight);
            pool = open;
            weight = now - start;
            start = now;
            open = 0;
        }
        if (b == bins - 1) {
            pool += open;
            weight += now - start;
        }
    }
    chi[row] = sum + pearson(pool, weight);
    pools[row] = max(closed, 1);
}
