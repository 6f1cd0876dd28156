#include <cuda_runtime.h>
#include <math.h>

// A warp per site, four sites a block.
__global__ void peril(const float* p, float* logkeep, float* risk,
                      int rows, int n)
{
    int row = blockIdx.x * 4 + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (row >= rows) return;
    const float* pr = p + (size_t)row * n;

    // Four perils are joined to one before the log: either strikes with
    // probability a + b - a b. A quarter of the logs.
    double sum = 0.0;
    for (int i = lane * 4; i < n; i += 128) {
        float r = 0.0f;
        for (int k = i; k < min(i + 4, n); ++k) {
            float q = pr[k];
            if (!(q > 0.0f)) continue;
            q = fminf(q, 1.0f);
            r = fmaf(q, 1.0f - r, r);
        }
        sum += log1p(-(double)r);
    }
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) { logkeep[row] = (float)sum; risk[row] = (float)(-expm1(sum)); }
}
