// A block per meter; in a shared tile sums of 2, 4, 8 ... readings by doubling, windows put together
// from the bits of w (no subtraction). Long windows (w > 513) are summed directly.
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

#define TILE 1024
#define WMAX 513

__global__ void tariff(const float* load, const float* price, float* peak, float* base_load, float* bill,
                       int meters, int n, int w)
{
    __shared__ float p[TILE], acc[TILE];
    int m = blockIdx.x;
    if (m >= meters) return;
    const float* x = load + (size_t)m * n;
    float hi = 0.0f, lo = INFINITY;
    int windows = n - w + 1;
    if (w <= WMAX) {
        int step = TILE - w + 1;
        for (int first = 0; first < windows; first += step) {
            for (int t = threadIdx.x; t < TILE; t += blockDim.x) {
                p[t] = t < n - first ? demand(x[first + t]) : 0.0f;
                acc[t] = 0.0f;
            }
            __syncthreads();
            int offset = 0;
            for (int len = 1; len <= w; len <<= 1) {
                if (w & len) {
                    for (int t = threadIdx.x; t + offset < TILE; t += blockDim.x) acc[t] += p[t + offset];
                    offset += len;
                }
                float fresh[TILE / 128];
                __syncthreads();
                for (int t = threadIdx.x, k = 0; t < TILE; t += blockDim.x, ++k)
                    fresh[k] = t + len < TILE ? p[t] + p[t + len] : p[t];
                __syncthreads();
                for (int t = threadIdx.x, k = 0; t < TILE; t += blockDim.x, ++k) p[t] = fresh[k];
                __syncthreads();
            }
            for (int t = threadIdx.x; t < step && t < windows - first; t += blockDim.x) {
                hi = fmaxf(hi, acc[t]);
                lo = fminf(lo, acc[t]);
            }
            __syncthreads();
        }
    } else {
        for (int i = threadIdx.x; i < windows; i += blockDim.x) {
            float sum = 0.0f;
            for (int k = 0; k < w; ++k) sum += demand(x[i + k]);
            hi = fmaxf(hi, sum);
            lo = fminf(lo, sum);
        }
    }
    hi /= (float)w;
    lo /= (float)w;
    double cost = 0.0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        cost += (double)demand(x[i]) * (double)fmaxf(price[i], 0.01f);
    reduce_block(hi, lo, cost, windows > 0, peak, base_load, bill, m);
}
