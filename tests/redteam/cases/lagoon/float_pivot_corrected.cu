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

__global__ void __launch_bounds__(256) sum_part(const float* x, double* part, int n)
{
    const float* row = x + (size_t)blockIdx.y * n;
    double s = 0.0;
    for (long long i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256LL * gridDim.x) s += row[i];
    s = block_sum(s);
    if (threadIdx.x == 0) part[(size_t)blockIdx.y * gridDim.x + blockIdx.x] = s;
}

__global__ void __launch_bounds__(256) dev_part(const float* x, const double* stat, double* part, int n)
{
    const float* row = x + (size_t)blockIdx.y * n;
    // The mean is rounded to float once, so that the subtraction is of two floats.
    float mean = (float)stat[2 * blockIdx.y];
    double s = 0.0, t = 0.0;
    for (long long i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256LL * gridDim.x) {
        double d = (double)row[i] - (double)mean;
        s += d * d;
        t += d;
    }
    s = block_sum(s);
    t = block_sum(t);
    if (threadIdx.x == 0) {
        double* p = part + 2 * ((size_t)blockIdx.y * gridDim.x + blockIdx.x);
        p[0] = s;
        p[1] = t;
    }
}

__global__ void __launch_bounds__(256) finish(const double* part, double* stat, int blocks, int n, int slot)
{
    double s = 0.0;
    for (int k = threadIdx.x; k < blocks; k += 256) s += part[(size_t)blockIdx.x * blocks + k];
    s = block_sum(s);
    if (threadIdx.x == 0) stat[2 * blockIdx.x + slot] = s / n;
}

__global__ void __launch_bounds__(256) finish_dev(const double* part, double* stat, int blocks, int n)
{
    double s = 0.0, t = 0.0;
    for (int k = threadIdx.x; k < blocks; k += 256) {
        const double* p = part + 2 * ((size_t)blockIdx.x * blocks + k);
        s += p[0];
        t += p[1];
    }
    s = block_sum(s);
    t = block_sum(t);
    if (threadIdx.x == 0) {
        double v = (s - t * (t / n)) / n;
        stat[2 * blockIdx.x + 1] = v < 0.0 ? 0.0 : v;
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
    cudaMalloc(&part, sizeof(double) * 2 * blocks * c);
    dim3 grid(blocks, c);
    sum_part<<<grid, 256>>>(x, part, n);
    finish<<<c, 256>>>(part, stat, blocks, n, 0);
    dev_part<<<grid, 256>>>(x, stat, part, n);
    finish_dev<<<c, 256>>>(part, stat, blocks, n);
    apply<<<grid, 256>>>(x, stat, z, n);
    cudaFree(part);
}
