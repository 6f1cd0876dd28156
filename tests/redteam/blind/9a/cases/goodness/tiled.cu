#include <cuda_runtime.h>

__device__ __forceinline__ float pearson(long long seen, float expected)
{
    float off = (float)seen - expected;
    return expected > 0.0f ? off * off / expected : 0.0f;
}

// Coalesced: 128 rows by 32 bins of counts through a padded shared tile, pooled as they come.
__global__ void goodness(const int* __restrict__ seen, const float* __restrict__ expected, float* __restrict__ chi,
                         int* __restrict__ pools, int rows, int bins, float least)
{
    __shared__ int tile[128][33];
    __shared__ float shareExpected[32];
    int first = blockIdx.x * 128;
    int here = min(128, rows - first);
    float sum = 0.0f, poolExpected = 0.0f, openExpected = 0.0f;
    long long poolSeen = 0, openSeen = 0;
    int closed = 0, open = 0;
    for (int b0 = 0; b0 < bins; b0 += 32) {
        int wide = min(32, bins - b0);
        __syncthreads();
        for (int k = threadIdx.x; k < here * 32; k += 128)
            if ((k & 31) < wide)
                tile[k >> 5][k & 31] = seen[(size_t)(first + (k >> 5)) * bins + b0 + (k & 31)];
        if ((int)threadIdx.x < wide)
            shareExpected[threadIdx.x] = expected[b0 + threadIdx.x];
        __syncthreads();
        if ((int)threadIdx.x >= here)
            continue;
        for (int k = 0; k < wide; ++k) {
            openSeen += tile[threadIdx.x][k];
            openExpected += shareExpected[k];
            ++open;
            if (openExpected >= least) {
                if (closed > 0)
                    sum += pearson(poolSeen, poolExpected);
                poolSeen = openSeen;
                poolExpected = openExpected;
                ++closed;
                openSeen = 0;
                openExpected = 0.0f;
                open = 0;
            }
        }
    }
    if ((int)threadIdx.x >= here)
        return;
    if (open > 0) {
        poolSeen += openSeen;
        poolExpected += openExpected;
        closed = max(closed, 1);
    }
    chi[first + threadIdx.x] = sum + pearson(poolSeen, poolExpected);
    pools[first + threadIdx.x] = closed;
}
