// Leave-one-out baselines for multi-sample objectives: for each sample of a row, the log of the mean
// weight of the OTHER samples of that row, from log weights.
//   * a NaN among the others gives NaN; the own entry never matters
//   * otherwise a maximum of the others that is infinite (also: no others at all) is the answer
#include <cuda_runtime.h>
#include <math_constants.h>

struct Tally {
    float top, sum;
    bool bad, full;
    static __device__ Tally nothing() { return {-CUDART_INF_F, 0.0f, false, false}; }
    __device__ void push(float x)
    {
        if (isnan(x)) { bad = true; return; }
        if (isinf(x)) { full |= x > 0.0f; return; }      // minus infinity weighs nothing
        if (x <= top) sum += expf(x - top);
        else {
            sum = isinf(top) ? 1.0f : sum * expf(top - x) + 1.0f;
            top = x;
        }
    }
    __device__ float value() const
    {
        if (bad) return CUDART_NAN_F;
        if (full) return CUDART_INF_F;
        return isinf(top) ? top : top + logf(sum);
    }
};

// One thread a row, two walks. The walk to the right leaves the log sum of what came before in the output;
// the walk to the left joins it with what came after. No exclusion by subtraction anywhere.
__global__ void leaveout_rows(const float* logw, float* baseline, int rows, int k)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* row = logw + (long long)r * k;
    float* out = baseline + (long long)r * k;

    Tally before = Tally::nothing();
    for (int j = 0; j < k; ++j) {
        out[j] = before.value();
        before.push(row[j]);
    }
    Tally after = Tally::nothing();
    float share = logf((float)(k - 1));
    for (int j = k - 1; j >= 0; --j) {
        float a = out[j], b = after.value();
        float y;
        if (isnan(a) || isnan(b)) y = CUDART_NAN_F;
        else {
            float high = fmaxf(a, b), low = fminf(a, b);
            y = isinf(high) ? high : high + log1pf(expf(low - high)) - share;
        }
        out[j] = y;
        after.push(row[j]);
    }
}

extern "C" void leaveout(const float* logw, float* baseline, int rows, int k)
{
    leaveout_rows<<<(unsigned)((rows + 127) / 128), 128>>>(logw, baseline, rows, k);
}
