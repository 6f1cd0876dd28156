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

// A warp owns a row. With e_j = exp(x_j - top) the total is at least 1 + e_i for every i but the row's
// champion, so taking e_i out of it loses one bit at the most. The champion itself, and rows
// that hold anything not finite at the top, are summed without shortcuts.
__global__ void leaveout_rows(const float* logw, float* baseline, int rows, int k)
{
    int r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (r >= rows) return;
    const float* row = logw + (long long)r * k;
    float* out = baseline + (long long)r * k;

    float top = -CUDART_INF_F;
    int who = 0x7fffffff;
    bool bad = false;
    for (int j = lane; j < k; j += 32) {
        float x = row[j];
        bad |= isnan(x);
        if (x > top) { top = x; who = j; }
    }
    for (int d = 16; d; d >>= 1) {
        float t2 = __shfl_xor_sync(0xffffffffu, top, d);
        int w2 = __shfl_xor_sync(0xffffffffu, who, d);
        if (t2 > top || (t2 == top && w2 < who)) { top = t2; who = w2; }
    }
    bad = __any_sync(0xffffffffu, bad);

    if (bad || isinf(top)) {
        for (int j = lane; j < k; j += 32) out[j] = without(row, k, j);
        return;
    }
    float sum = 0.0f;
    for (int j = lane; j < k; j += 32) sum += expf(row[j] - top);
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);

    float share = logf((float)(k - 1));
    for (int j = lane; j < k; j += 32)
        out[j] = j == who ? without(row, k, j)
                          : top + logf(sum - expf(row[j] - top)) - share;
}

extern "C" void leaveout(const float* logw, float* baseline, int rows, int k)
{
    leaveout_rows<<<(unsigned)((rows + 7) / 8), 256>>>(logw, baseline, rows, k);
}

