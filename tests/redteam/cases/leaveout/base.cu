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

__global__ void leaveout_rows(const float* logw, float* baseline, int rows, int k)
{
    long long t = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= (long long)rows * k) return;
    long long r = t / k;
    int i = (int)(t - r * k);
    baseline[t] = without(logw + r * k, k, i);
}

extern "C" void leaveout(const float* logw, float* baseline, int rows, int k)
{
    long long all = (long long)rows * k;
    leaveout_rows<<<(unsigned)((all + 255) / 256), 256>>>(logw, baseline, rows, k);
}

