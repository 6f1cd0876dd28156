// Cliquet note by Monte Carlo: each period's return is clipped to [-loss, gain], a path pays the sum of its clipped
// returns, never less than 0. shock is [steps][paths]. Gives every path's payoff and the mean payoff.
#include <cuda_runtime.h>

#define THREADS 256
#define MOST 1024

__device__ double part[MOST];

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

__device__ __forceinline__ float clipped(float z, float sigma, float low, float high)
{
    return fminf(fmaxf(expm1f(sigma * z), low), high);
}

__global__ void walk(const float* shock, float* payoff, int paths, int steps, float sigma, float low, float high)
{
    double mine = 0.0;
    for (size_t p = blockIdx.x * (size_t)THREADS + threadIdx.x; p < (size_t)paths; p += (size_t)gridDim.x * THREADS) {
        // four periods in flight, four sums
        double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
        const float* z = shock + p;
        int t = 0;
        for (; t + 4 <= steps; t += 4, z += 4 * (size_t)paths) {
            const float z0 = z[0], z1 = z[paths], z2 = z[2 * (size_t)paths], z3 = z[3 * (size_t)paths];
            s0 += (double)clipped(z0, sigma, low, high);
            s1 += (double)clipped(z1, sigma, low, high);
            s2 += (double)clipped(z2, sigma, low, high);
            s3 += (double)clipped(z3, sigma, low, high);
        }
        for (; t < steps; ++t, z += paths) s0 += (double)clipped(*z, sigma, low, high);
        const double sum = (s0 + s1) + (s2 + s3);
        const float pay = (float)fmax(sum, 0.0);
        payoff[p] = pay;
        mine += (double)pay;
    }
    mine = block_sum(mine);
    if (threadIdx.x == 0) part[blockIdx.x] = mine;
}

__global__ void mean_of(float* price, int blocks, int paths)
{
    double s = 0.0;
    for (int b = threadIdx.x; b < blocks; b += THREADS) s += part[b];
    s = block_sum(s);
    if (threadIdx.x == 0) price[0] = (float)(s / (double)paths);
}

extern "C" void cliquet(const float* shock, float* payoff, float* price, int paths, int steps,
                        float sigma, float loss, float gain)
{
    const int wanted = (paths + THREADS - 1) / THREADS;
    const int blocks = wanted < MOST ? wanted : MOST;
    walk<<<blocks, THREADS>>>(shock, payoff, paths, steps, sigma, -loss, gain);
    mean_of<<<1, THREADS>>>(price, blocks, paths);
}
