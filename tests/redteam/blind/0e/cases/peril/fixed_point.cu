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

    // Fixed point, 2^-44: integer sums do not depend on the order. The log of
    // a float's complement is above -17, so -1024 can stand for a certainty.
    const double scale = 17592186044416.0;
    long long sum = 0;
    for (int i = lane; i < n; i += 32) {
        float q = pr[i];
        if (!(q > 0.0f)) continue;
        sum += __double2ll_rn(fmax(log1p(-(double)fminf(q, 1.0f)), -1024.0) * scale);
    }
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (lane == 0) {
        double s = (double)sum / scale;
        if (s <= -1024.0) s = -INFINITY;      // a certainty was among them
        logkeep[row] = (float)s;
        risk[row] = (float)(-expm1(s));
    }
}
