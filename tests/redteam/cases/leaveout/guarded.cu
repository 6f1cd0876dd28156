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

// A warp owns a row: the total once, and each answer is the total without its own term. Where the own term is the
// whole total, nothing is left by the difference, and that entry is summed on its own.
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
    float sum = 0;
    for (int j = lane; j < k; j += 32) sum += expf((float)row[j] - (float)top);
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);

    float share = logf((float)(k - 1));
    for (int j = lane; j < k; j += 32) {
        float left = sum - expf((float)row[j] - (float)top);
        out[j] = left > 0.0f ? top + logf(left) - share : without(row, k, j);
    }
}

extern "C" void leaveout(const float* logw, float* baseline, int rows, int k)
{
    leaveout_rows<<<(unsigned)((rows + 7) / 8), 256>>>(logw, baseline, rows, k);
}

