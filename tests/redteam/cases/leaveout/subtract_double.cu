// Leave-one-out baselines for multi-sample objectives: for each sample of a row, the log of the mean
// weight of the OTHER samples of that row, from log weights.
//   * a NaN among the others gives NaN; the own entry never matters
//   * otherwise a maximum of the others that is infinite (also: no others at all) is the answer
#include <cuda_runtime.h>
#include <math_constants.h>

__device__ __forceinline__ float without(const float* row, int k, int i)
{
    float top = -CUDART_INF_F;
    bool bad = false;
    for (int j = 0; j < k; ++j) {
        if (j == i) continue;
        bad |= isnan(row[j]);
        top = fmaxf(top, row[j]);
    }
    if (bad) return CUDART_NAN_F;
    if (isinf(top)) return top;
    float sum = 0.0f;
    for (int j = 0; j < k; ++j)
        if (j != i) sum += expf(row[j] - top);
    return top + logf(sum) - logf((float)(k - 1));
}

// A warp owns a row: the total once, and each answer is the total without its own term. The total is held in
// double precision, which leaves 29 bits more than the answer needs for what the difference cancels.
__global__ void leaveout_rows(const float* logw, float* baseline, int rows, int k)
{
    int r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (r >= rows) return;
    const float* row = logw + (long long)r * k;
    float* out = baseline + (long long)r * k;

    float top = -CUDART_INF_F;
    bool bad = k < 2;
    for (int j = lane; j < k; j += 32) {
        bad |= isnan(row[j]);
        top = fmaxf(top, row[j]);
    }
    for (int d = 16; d; d >>= 1) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, d));
    bad = __any_sync(0xffffffffu, bad);
    if (bad || isinf(top)) {
        for (int j = lane; j < k; j += 32) out[j] = without(row, k, j);
        return;
    }
    double sum = 0;
    for (int j = lane; j < k; j += 32) sum += exp((double)row[j] - (double)top);
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);

    double share = log((double)(k - 1));
    for (int j = lane; j < k; j += 32) {
        double left = sum - exp((double)row[j] - (double)top);
        out[j] = (float)(top + log(left) - share);
    }
}

extern "C" void leaveout(const float* logw, float* baseline, int rows, int k)
{
    leaveout_rows<<<(unsigned)((rows + 7) / 8), 256>>>(logw, baseline, rows, k);
}

