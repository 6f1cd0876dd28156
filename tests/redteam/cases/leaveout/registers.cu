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

// A warp owns a row and holds it in registers; lane l has samples l, l + 32, ... The champion and rows with
// anything not finite at the top are summed without shortcuts.
constexpr int HELD = 8;

__global__ void leaveout_rows(const float* logw, float* baseline, int rows, int k)
{
    int r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (r >= rows) return;
    const float* row = logw + (long long)r * k;
    float* out = baseline + (long long)r * k;

    float x[HELD];
    float top = -CUDART_INF_F;
    int who = 0x7fffffff;
    bool bad = false;
#pragma unroll
    for (int q = 0; q < HELD; ++q) {
        int j = lane + 32 * q;
        x[q] = j < k ? row[j] : -CUDART_INF_F;
        bad |= isnan(x[q]);
        if (x[q] > top) { top = x[q]; who = j; }
    }
    for (int d = 16; d; d >>= 1) {
        float t2 = __shfl_xor_sync(0xffffffffu, top, d);
        int w2 = __shfl_xor_sync(0xffffffffu, who, d);
        if (t2 > top || (t2 == top && w2 < who)) { top = t2; who = w2; }
    }
    bad = __any_sync(0xffffffffu, bad);
    bool slow = bad || isinf(top);

    float e[HELD], sum = 0.0f;
#pragma unroll
    for (int q = 0; q < HELD; ++q) {
        e[q] = expf(x[q] - top);
        sum += e[q];
    }
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);

    float share = logf((float)(k - 1));
#pragma unroll
    for (int q = 0; q < HELD; ++q) {
        int j = lane + 32 * q;
        if (j < k)
            out[j] = slow || j == who ? without(row, k, j) : top + logf(sum - e[q]) - share;
    }
}

extern "C" void leaveout(const float* logw, float* baseline, int rows, int k)
{
    leaveout_rows<<<(unsigned)((rows + 7) / 8), 256>>>(logw, baseline, rows, k);
}

