// Leave-one-out baselines for multi-sample objectives: for each sample of a row, the log of the mean
// weight of the OTHER samples of that row, from log weights.
//   * a NaN among the others gives NaN; the own entry never matters
//   * otherwise a maximum of the others that is infinite (also: no others at all) is the answer
#include <cuda_runtime.h>
#include <math_constants.h>

// A block owns a row. Tiles of the row pass through shared memory while every thread keeps a running maximum
// and a running sum for its own sample, rescaled whenever the maximum moves.
__global__ void leaveout_rows(const float* logw, float* baseline, int rows, int k)
{
    __shared__ float tile[128];
    const float* row = logw + (long long)blockIdx.x * k;
    float* out = baseline + (long long)blockIdx.x * k;
    float share = logf((float)(k - 1));

    for (int first = 0; first < k; first += blockDim.x) {
        int i = first + threadIdx.x;
        float top = -CUDART_INF_F, sum = 0.0f;
        bool bad = false;
        for (int from = 0; from < k; from += 128) {
            int here = min(128, k - from);
            __syncthreads();
            for (int j = threadIdx.x; j < here; j += blockDim.x) tile[j] = row[from + j];
            __syncthreads();
            float high = top;
            for (int j = 0; j < here; ++j) {
                if (from + j == i) continue;
                bad |= isnan(tile[j]);
                high = fmaxf(high, tile[j]);
            }
            if (isinf(high)) { top = high; continue; }   // nothing that weighs yet, or infinite for good
            sum = isinf(top) ? 0.0f : sum * expf(top - high);
            top = high;
            for (int j = 0; j < here; ++j)
                if (from + j != i) sum += expf(tile[j] - top);
        }
        if (i < k)
            out[i] = bad ? CUDART_NAN_F : isinf(top) ? top : top + logf(sum) - share;
    }
}

extern "C" void leaveout(const float* logw, float* baseline, int rows, int k)
{
    leaveout_rows<<<(unsigned)rows, 64>>>(logw, baseline, rows, k);
}
