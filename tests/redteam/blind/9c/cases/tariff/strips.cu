// A block per meter; four neighbouring windows share the sum of their common readings.
#include <cuda_runtime.h>

__device__ inline float demand(float reading) { return fmaxf(reading, 0.0f); }

__device__ inline void reduce_block(float hi, float lo, double cost, bool any, float* peak, float* base_load,
                                    float* bill, int m)
{
    __shared__ float sh[32], sl[32];
    __shared__ double sc[32];
    for (int d = 16; d > 0; d >>= 1) {
        hi = fmaxf(hi, __shfl_xor_sync(0xffffffffu, hi, d));
        lo = fminf(lo, __shfl_xor_sync(0xffffffffu, lo, d));
        cost += __shfl_xor_sync(0xffffffffu, cost, d);
    }
    int warp = threadIdx.x >> 5;
    if ((threadIdx.x & 31) == 0) { sh[warp] = hi; sl[warp] = lo; sc[warp] = cost; }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < (int)(blockDim.x >> 5); ++k) {
            hi = fmaxf(hi, sh[k]);
            lo = fminf(lo, sl[k]);
            cost += sc[k];
        }
        peak[m] = any ? hi : 0.0f;
        base_load[m] = any ? lo : 0.0f;
        bill[m] = (float)cost;
    }
}

__global__ void tariff(const float* load, const float* price, float* peak, float* base_load, float* bill,
                       int meters, int n, int w)
{
    int m = blockIdx.x;
    if (m >= meters) return;
    const float* x = load + (size_t)m * n;
    float hi = 0.0f, lo = INFINITY;
    int windows = n - w + 1;
    for (int i = 4 * (int)threadIdx.x; i < windows; i += 4 * (int)blockDim.x) {
        float s[4];
        int count = windows - i < 4 ? windows - i : 4;
        if (w >= 4 && count == 4) {
            float common = 0.0f;
            for (int k = 3; k < w; ++k) common += demand(x[i + k]);
            float a0 = demand(x[i]), a1 = demand(x[i + 1]), a2 = demand(x[i + 2]);
            float b0 = demand(x[i + w]), b1 = demand(x[i + w + 1]), b2 = demand(x[i + w + 2]);
            s[0] = a0 + (a1 + (a2 + common));
            s[1] = a1 + (a2 + (common + b0));
            s[2] = a2 + ((common + b0) + b1);
            s[3] = ((common + b0) + b1) + b2;
        } else {
            for (int q = 0; q < count; ++q) {
                float sum = 0.0f;
                for (int k = 0; k < w; ++k) sum += demand(x[i + q + k]);
                s[q] = sum;
            }
        }
        for (int q = 0; q < count; ++q) {
            float mean = s[q] / (float)w;
            hi = fmaxf(hi, mean);
            lo = fminf(lo, mean);
        }
    }
    double cost = 0.0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        cost += (double)demand(x[i]) * (double)fmaxf(price[i], 0.01f);
    reduce_block(hi, lo, cost, windows > 0, peak, base_load, bill, m);
}
