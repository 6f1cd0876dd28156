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
    const size_t t0 = blockIdx.x * (size_t)THREADS + threadIdx.x, all = (size_t)gridDim.x * THREADS;
    size_t done = 0;
    if (paths % 4 == 0) {   // then every row begins at a multiple of 16 bytes
        for (size_t q = t0; q < (size_t)paths / 4; q += all) {
            double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
            for (int t = 0; t < steps; ++t) {
                const float4 z = *(const float4*)(shock + (size_t)t * paths + 4 * q);
                s0 += (double)clipped(z.x, sigma, low, high);
                s1 += (double)clipped(z.y, sigma, low, high);
                s2 += (double)clipped(z.z, sigma, low, high);
                s3 += (double)clipped(z.w, sigma, low, high);
            }
            float4 pay;
            pay.x = (float)fmax(s0, 0.0);
            pay.y = (float)fmax(s1, 0.0);
            pay.z = (float)fmax(s2, 0.0);
            pay.w = (float)fmax(s3, 0.0);
            *(float4*)(payoff + 4 * q) = pay;
            mine += ((double)pay.x + (double)pay.y) + ((double)pay.z + (double)pay.w);
        }
        done = (size_t)paths / 4 * 4;
    }
    for (size_t p = done + t0; p < (size_t)paths; p += all) {
        double sum = 0.0;
        for (int t = 0; t < steps; ++t)
            sum += (double)clipped(shock[(size_t)t * paths + p], sigma, low, high);
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
