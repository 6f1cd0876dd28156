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

    // Small probabilities, nearly all of them, by the series of log(1 - q);
    // the rest by log1p.
    double sum = 0.0;
    for (int i = lane; i < n; i += 32) {
        float q = pr[i];
        if (!(q > 0.0f)) continue;
        if (q < 0.125f)
            sum -= q * (1.0f + q * (0.5f + q * (0.33333333f + q * 0.25f)));
        else
            sum += log1p(-(double)fminf(q, 1.0f));
    }
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) { logkeep[row] = (float)sum; risk[row] = (float)(-expm1(sum)); }
}
