// Per-channel standardisation: mean and population variance in double, then z = (x - mean) / sqrt(var + 1e-12).
// x holds c channels of n samples each, channel after channel. stat[2*j] is the mean, stat[2*j+1] the variance.
#include <cuda_runtime.h>

__device__ double block_sum(double v)
{
    __shared__ double warp[8];
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffffu, v, o);
    if ((threadIdx.x & 31) == 0) warp[threadIdx.x >> 5] = v;
    __syncthreads();
    double s = 0.0;
    for (int k = 0; k < 8; ++k) s += warp[k];
    __syncthreads();
    return s;
}

// One reading of x: plain sum, and the first two moments about a pivot. Any pivot near the data does; the mean that
// the channel had the last time is a good one.
__global__ void __launch_bounds__(256) moments_part(const float* x, const double* pivots, double* part, int n)
{
    const float* row = x + (size_t)blockIdx.y * n;
    double pivot = pivots[blockIdx.y];
    double s = 0.0, d1 = 0.0, d2 = 0.0;
    for (long long i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256LL * gridDim.x) {
        double v = row[i], d = v - pivot;
        s += v;
        d1 += d;
        d2 += d * d;
    }
    s = block_sum(s);
    d1 = block_sum(d1);
    d2 = block_sum(d2);
    if (threadIdx.x == 0) {
        double* p = part + 3 * ((size_t)blockIdx.y * gridDim.x + blockIdx.x);
        p[0] = s;
        p[1] = d1;
        p[2] = d2;
    }
}

__global__ void __launch_bounds__(256) finish(const double* part, double* stat, double* pivots, int blocks, int n)
{
    double s = 0.0, d1 = 0.0, d2 = 0.0;
    for (int k = threadIdx.x; k < blocks; k += 256) {
        const double* p = part + 3 * ((size_t)blockIdx.x * blocks + k);
        s += p[0];
        d1 += p[1];
        d2 += p[2];
    }
    s = block_sum(s);
    d1 = block_sum(d1);
    d2 = block_sum(d2);
    if (threadIdx.x == 0) {
        double v = (d2 - d1 * (d1 / n)) / n;
        stat[2 * blockIdx.x] = s / n;
        pivots[blockIdx.x] = s / n;
        stat[2 * blockIdx.x + 1] = v < 0.0 ? 0.0 : v;   // rounding may leave a tiny negative
    }
}

__global__ void __launch_bounds__(256) apply(const float* x, const double* stat, float* z, int n)
{
    double mean = stat[2 * blockIdx.y];
    double scale = 1.0 / sqrt(stat[2 * blockIdx.y + 1] + 1e-12);
    const float* row = x + (size_t)blockIdx.y * n;
    float* out = z + (size_t)blockIdx.y * n;
    for (long long i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256LL * gridDim.x)
        out[i] = (float)((row[i] - mean) * scale);
}

extern "C" void lagoon(const float* x, float* z, double* stat, int n, int c)
{
    int blocks = (n + 2047) / 2048;
    if (blocks > 64) blocks = 64;
    double* part = nullptr;
    cudaMalloc(&part, sizeof(double) * 3 * blocks * c);
    static double* pivots = nullptr;
    static int have = 0;
    if (c > have) {
        cudaFree(pivots);
        cudaMalloc(&pivots, sizeof(double) * c);
        cudaMemset(pivots, 0, sizeof(double) * c);
        have = c;
    }
    dim3 grid(blocks, c);
    moments_part<<<grid, 256>>>(x, pivots, part, n);
    finish<<<c, 256>>>(part, stat, pivots, blocks, n);
    apply<<<grid, 256>>>(x, stat, z, n);
    cudaFree(part);
}
