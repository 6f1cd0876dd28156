#include <cuda_runtime.h>

// Room for each block's sums, and how many blocks are ready.
__device__ double block_sum[264][3];
__device__ unsigned ready;

__device__ void of_block(double* s, double (*part)[8]) {
    for (int k = 0; k < 3; ++k) {
        for (int w = 16; w; w /= 2) s[k] += __shfl_down_sync(0xffffffffu, s[k], w);
        if (threadIdx.x % 32 == 0) part[k][threadIdx.x / 32] = s[k];
    }
    __syncthreads();
    for (int k = 0; k < 3; ++k) {
        s[k] = 0.;
        for (int w = 0; w < 8; ++w) s[k] += part[k][w];
    }
    __syncthreads();
}

// Sums of beats, of their squares, and of the squares of what a beat differs by from the one in front of it. The block
// that is ready last adds up what all have left, and tells the rates; it leaves the count at nought.
__global__ void beats(const float* rr, double* rate, int n) {
    __shared__ double part[3][8];
    __shared__ bool last;
    double s[3] = {};
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256) {
        double v = rr[i], d = i ? v - rr[i - 1] : 0.;
        s[0] += v, s[1] += v * v, s[2] += d * d;
    }
    of_block(s, part);
    if (threadIdx.x == 0) {
        for (int k = 0; k < 3; ++k) block_sum[blockIdx.x][k] = s[k];
        __threadfence();
        last = atomicInc(&ready, gridDim.x - 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (!last) return;
    for (int k = 0; k < 3; ++k) s[k] = 0.;
    for (int b = threadIdx.x; b < gridDim.x; b += 256)
        for (int k = 0; k < 3; ++k) s[k] += *(volatile double*)&block_sum[b][k];
    of_block(s, part);
    if (threadIdx.x) return;
    rate[0] = s[0] / n;
    rate[1] = s[1] / n;
    rate[2] = n > 1 ? sqrt(s[2] / (n - 1)) : 0.;
}

// How steadily a heart beats, by the times between beats.
extern "C" void heartrate(const float* rr, double* rate, int n) {
    beats<<<min((n - 1) / 2048 + 1, 264), 256>>>(rr, rate, n);
}
