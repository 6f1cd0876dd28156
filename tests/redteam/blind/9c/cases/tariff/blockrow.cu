// A block per meter: a window a thread, reduction by shuffles.
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
    for (int i = threadIdx.x; i + w <= n; i += blockDim.x) {
        float s0 = 0.0f, s1 = 0.0f;
        int k = 0;
        for (; k + 1 < w; k += 2) {
            s0 += demand(x[i + k]);
            s1 += demand(x[i + k + 1]);
        }
        if (k < w) s0 += demand(x[i + k]);
        float sum = s0 + s1;
        hi = fmaxf(hi, sum);
        lo = fminf(lo, sum);
    }
    hi /= (float)w;
    lo /= (float)w;
    double cost = 0.0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        cost += (double)demand(x[i]) * (double)fmaxf(price[i], 0.01f);
    reduce_block(hi, lo, cost, w <= n, peak, base_load, bill, m);
}
