#include <cuda_runtime.h>

__device__ __forceinline__ float pearson(long long seen, float expected)
{
    float off = (float)seen - expected;
    return expected > 0.0f ? off * off / expected : 0.0f;
}

// A pool's count is a difference of running totals (exact in 64 bits); four counts a load where the row is aligned.
struct Pools {
    long long total, before, last;              // all so far, at the start of the open pool, at the start of the last one
    float open, weight, sum;
    int closed;
};

__device__ __forceinline__ void take(int count, float expected, float least, Pools& p)
{
    p.total += count;
    p.open += expected;
    if (p.open >= least) {
        if (p.closed++)
            p.sum += pearson(p.before - p.last, p.weight);
        p.last = p.before;
        p.before = p.total;
        p.weight = p.open;
        p.open = 0.0f;
    }
}

__global__ void goodness(const int* __restrict__ seen, const float* __restrict__ expected, float* __restrict__ chi,
                         int* __restrict__ pools, int rows, int bins, float least)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const int* count = seen + (size_t)row * bins;
    Pools p = {};
    int b = 0;
    if (((size_t)count & 15) == 0)
        for (; b + 4 <= bins; b += 4) {
            int4 v = *(const int4*)(count + b);
            take(v.x, expected[b], least, p);
            take(v.y, expected[b + 1], least, p);
            take(v.z, expected[b + 2], least, p);
            take(v.w, expected[b + 3], least, p);
        }
    for (; b < bins; ++b)
        take(count[b], expected[b], least, p);
    // what is left joins the last pool, if anything is expected there
    long long pool = (p.open > 0.0f ? p.total : p.before) - p.last;
    chi[row] = p.sum + pearson(pool, p.weight + p.open);
    pools[row] = max(p.closed, 1);
}
