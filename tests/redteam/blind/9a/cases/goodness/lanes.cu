#include <cuda_runtime.h>

__device__ __forceinline__ float pearson(long long seen, float expected)
{
    float off = (float)seen - expected;
    return expected > 0.0f ? off * off / expected : 0.0f;
}

constexpr int kPools = 1536;

// Warp a row with a common plan: the lanes take pools; lane 0 walks the row alone where the plan has no room.
__global__ void goodness(const int* __restrict__ seen, const float* __restrict__ expected, float* __restrict__ chi,
                         int* __restrict__ pools, int rows, int bins, float least)
{
    // The pools are the same for all rows: one thread makes the plan (bin behind each pool, its expectation).
    __shared__ int ends[kPools];
    __shared__ float weight[kPools];
    __shared__ int made;
    if (threadIdx.x == 0) {
        int closed = 0, b = 0, from = 0;
        float open = 0.0f;
        for (; b < bins; ++b) {
            open += expected[b];
            if (open >= least) {
                if (closed < kPools) {
                    ends[closed] = (int)(b + 1);
                    weight[closed] = open;
                }
                ++closed;
                open = 0.0f;
                from = b + 1;
            }
        }
        if (from < bins) {
            if (closed == 0) {
                weight[0] = 0.0f;
                closed = 1;
            }
            if (closed <= kPools) {
                ends[closed - 1] = (int)bins;
                weight[closed - 1] += open;
            }
        }
        made = closed;
    }
    __syncthreads();
    int lane = threadIdx.x & 31;
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (row >= rows)
        return;
    const int* count = seen + (size_t)row * bins;
    if (made > kPools) {
        if (lane)
            return;
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
    float sum = 0.0f;
    for (int p = lane; p < made; p += 32) {
        long long pool = 0;
        for (int b = p ? ends[p - 1] : 0; b < ends[p]; ++b)
            pool += count[b];
        sum += pearson(pool, weight[p]);
    }
    for (int o = 16; o; o >>= 1)
        sum += __shfl_xor_sync(~0u, sum, o);
    if (lane == 0) {
        chi[row] = sum;
        pools[row] = made;
    }
}
