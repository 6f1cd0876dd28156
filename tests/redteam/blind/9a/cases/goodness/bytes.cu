#include <cuda_runtime.h>

__device__ __forceinline__ float pearson(long long seen, float expected)
{
    float off = (float)seen - expected;
    return expected > 0.0f ? off * off / expected : 0.0f;
}

constexpr int kPools = 2048;

__global__ void goodness(const int* __restrict__ seen, const float* __restrict__ expected, float* __restrict__ chi,
                         int* __restrict__ pools, int rows, int bins, float least)
{
    // The pools are the same for all rows: one thread makes the plan (bins of each pool, its expectation).
    __shared__ unsigned char size[kPools];         // bins of each pool
    __shared__ float weight[kPools];
    __shared__ int made;
    if (threadIdx.x == 0) {
        int closed = 0, b = 0, from = 0;
        float open = 0.0f;
        for (; b < bins; ++b) {
            open += expected[b];
            if (open >= least) {
                if (closed < kPools) {
                    size[closed] = (unsigned char)(b + 1 - from);
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
                size[0] = 0;
                closed = 1;
            }
            if (closed <= kPools) {
                size[closed - 1] = (unsigned char)(size[closed - 1] + bins - from);
                weight[closed - 1] += open;
            }
        }
        made = closed;
    }
    __syncthreads();
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const int* count = seen + (size_t)row * bins;
    float sum = 0.0f;
    int b = 0;
    for (int p = 0; p < made; ++p) {
        long long pool = 0;
        for (int end = b + size[p]; b < end; ++b)
            pool += count[b];
        sum += pearson(pool, weight[p]);
    }
    chi[row] = sum;
    pools[row] = made;
}
