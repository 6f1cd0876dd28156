// A block per meter, shared tiles of 256 windows with a halo for windows of a few days (w up to 128).
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

#define TILE 256
#define HALO 128

__global__ void tariff(const float* load, const float* price, float* peak, float* base_load, float* bill,
                       int meters, int n, int w)
{
    __shared__ float tile[TILE + HALO];
    int m = blockIdx.x;
    if (m >= meters) return;
    const float* x = load + (size_t)m * n;
    float hi = 0.0f, lo = INFINITY;
    int windows = n - w + 1;
    for (int first = 0; first < windows; first += TILE) {
        for (int t = threadIdx.x; t < TILE + HALO; t += blockDim.x)
            tile[t] = t < n - first ? demand(x[first + t]) : 0.0f;
        __syncthreads();
        for (int t = threadIdx.x; t < TILE && t < windows - first; t += blockDim.x) {
            float sum = 0.0f;
            int end = t + w < TILE + HALO ? t + w : TILE + HALO;
            for (int k = t; k < end; ++k) sum += tile[k];
            hi = fmaxf(hi, sum);
            lo = fminf(lo, sum);
        }
        __syncthreads();
    }
    hi /= (float)w;
    lo /= (float)w;
    double cost = 0.0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        cost += (double)demand(x[i]) * (double)fmaxf(price[i], 0.01f);
    reduce_block(hi, lo, cost, windows > 0, peak, base_load, bill, m);
}
