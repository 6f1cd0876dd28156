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

// A warp owns a row. With e_j = exp(x_j - top) the total is at least 1 + e_i for every i below the top,
// so taking e_i out of it loses one bit at the most. What lies below the top is summed a second
// time against the second highest entry, for the champion's own answer.
__global__ void leaveout_rows(const float* logw, float* baseline, int rows, int k)
{
    int r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (r >= rows) return;
    const float* row = logw + (long long)r * k;
    float* out = baseline + (long long)r * k;

    float top = -CUDART_INF_F;
    bool bad = false;
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

    float second = -CUDART_INF_F;
    for (int j = lane; j < k; j += 32)
        if (row[j] < top) second = fmaxf(second, row[j]);
    for (int d = 16; d; d >>= 1) second = fmaxf(second, __shfl_xor_sync(0xffffffffu, second, d));

    float sum = 0.0f, rest = 0.0f;
    for (int j = lane; j < k; j += 32) {
        float x = row[j];
        sum += expf(x - top);
        if (x < top && !isinf(x)) rest += expf(x - second);
    }
    for (int d = 16; d; d >>= 1) {
        sum += __shfl_xor_sync(0xffffffffu, sum, d);
        rest += __shfl_xor_sync(0xffffffffu, rest, d);
    }
    float share = logf((float)(k - 1));
    float champion = isinf(second) ? second : second + logf(rest) - share;
    for (int j = lane; j < k; j += 32) {
        float x = row[j];
        out[j] = x < top ? top + logf(sum - expf(x - top)) - share : champion;
    }
}

extern "C" void leaveout(const float* logw, float* baseline, int rows, int k)
{
    leaveout_rows<<<(unsigned)((rows + 7) / 8), 256>>>(logw, baseline, rows, k);
}

