// Zone map of a column: for each zone of rows the least and the greatest value, the rows that are null and those that
// are not a number. Bit i % 32 of word i / 32 is set where row i has a value. Nulls and NaNs take no part in the range;
// a zone without values has (inf, -inf).
#include <math_constants.h>

__global__ void zonemap(const float* value, const int* valid, float* low, float* high, int* nulls, int* nans, int n,
                        int zone)
{
    __shared__ float lows[128], highs[128];
    __shared__ int empty[128], odd[128];
    int t = threadIdx.x;
    long long start = (long long)blockIdx.x * zone;
    long long end = start + zone < n ? start + zone : n;
    float lo = CUDART_INF_F, hi = -CUDART_INF_F;
    int none = 0, bad = 0;
    for (long long i = start + t; i < end; i += blockDim.x) {
        if (!((unsigned)valid[i / 32] >> (i % 32) & 1)) {
            ++none;
            continue;
        }
        float v = value[i];
        if (v != v) {
            ++bad;
            continue;
        }
        lo = fminf(lo, v);
        hi = fmaxf(hi, v);
    }
    lows[t] = lo; highs[t] = hi; empty[t] = none; odd[t] = bad;
    __syncthreads();
    for (int step = 64; step; step /= 2) {
        if (t < step) {
            lows[t] = fminf(lows[t], lows[t + step]);
            highs[t] = fmaxf(highs[t], highs[t + step]);
            empty[t] += empty[t + step];
            odd[t] += odd[t + step];
        }
        __syncthreads();
    }
    if (t == 0) {
        low[blockIdx.x] = lows[0];
        high[blockIdx.x] = highs[0];
        nulls[blockIdx.x] = empty[0];
        nans[blockIdx.x] = odd[0];
    }
}
