// Standardise a whole vector: y = (x - mean) / sqrt(var + eps), population variance,
// one sweep in double for both moments.
#include <cuda_runtime.h>

#define THREADS 256
#define BLOCKS 512

__device__ double part[BLOCKS], partq[BLOCKS];
__device__ double moments[2];

__device__ double block_sum(double v)
{
    __shared__ double warps[THREADS / 32];
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    if ((threadIdx.x & 31) == 0) warps[threadIdx.x >> 5] = v;
    __syncthreads();
    double s = 0.0;
    if (threadIdx.x == 0)
        for (int w = 0; w < THREADS / 32; ++w) s += warps[w];
    return s;   // in thread 0
}

// One sweep: sum and sum of squares of the distance from x[0], all in double.
__global__ void both_pass(const float* x, int n)
{
    const double origin = (double)x[0];
    double s = 0.0, q = 0.0;
    for (size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x; i < (size_t)n; i += (size_t)BLOCKS * THREADS) {
        const double d = (double)x[i] - origin;
        s += d;
        q += d * d;
    }
    s = block_sum(s);
    __syncthreads();
    q = block_sum(q);
    if (threadIdx.x == 0) { part[blockIdx.x] = s; partq[blockIdx.x] = q; }
}

__global__ void fold(const float* x, int n)
{
    double s = 0.0, q = 0.0;
    for (int b = threadIdx.x; b < BLOCKS; b += THREADS) { s += part[b]; q += partq[b]; }
    s = block_sum(s);
    __syncthreads();
    q = block_sum(q);
    if (threadIdx.x == 0) {
        const double m = s / (double)n;
        const double v = q / (double)n - m * m;
        moments[0] = (double)x[0] + m;
        moments[1] = v < 0.0 ? 0.0 : v;
    }
}

__global__ void apply(const float* x, float* y, int n, float eps)
{
    const double mean = moments[0];
    const double rstd = 1.0 / sqrt(moments[1] + (double)eps);
    for (size_t i = blockIdx.x * (size_t)THREADS + threadIdx.x; i < (size_t)n; i += (size_t)gridDim.x * THREADS)
        y[i] = (float)(((double)x[i] - mean) * rstd);
}

extern "C" void zscored(const float* x, float* y, int n, float eps)
{
    both_pass<<<BLOCKS, THREADS>>>(x, n);
    fold<<<1, THREADS>>>(x, n);
    apply<<<BLOCKS * 4, THREADS>>>(x, y, n, eps);
}
