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

    // Products of complements in double, one log a lane at the end; what a
    // product near one loses is made up by log1p for small probabilities.
    double keep = 1.0, sum = 0.0;
    for (int i = lane; i < n; i += 32) {
        float q = pr[i];
        if (!(q > 0.0f)) continue;
        q = fminf(q, 1.0f);
        if (q < 0.001f) sum += log1p(-(double)q);
        else            keep *= 1.0 - (double)q;
    }
    sum += log(keep);
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) { logkeep[row] = (float)sum; risk[row] = (float)(-expm1(sum)); }
}
