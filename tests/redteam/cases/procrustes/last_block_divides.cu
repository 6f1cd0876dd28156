#include <cuda_runtime.h>

// What the best turn between two clouds of points, pair by pair, is found from: the means of both, the mean of the nine
// products of what is beside them, and the mean square of that for the first.
constexpr int kBlocks = 264;

// The sum of a block of 256, for its first thread.
__device__ double whole(double mine) {
    __shared__ double room[8];
    for (int step = 16; step; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
    __syncthreads();
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = mine;
    __syncthreads();
    mine = threadIdx.x < 8 ? room[threadIdx.x] : 0;
    for (int step = 4; step; step /= 2) mine += __shfl_down_sync(~0u, mine, step);
    return mine;
}

__device__ double part[kBlocks][16];
__device__ unsigned finished;

// All sums in one pass, of what is beside the first points, in double precision: the products of the means are taken off
// by the last block.
__global__ void moments(const float* p, const float* q, float* sums, int n) {
    __shared__ bool last;
    double sum[16] = {}, p0[3], q0[3];
    for (int k = 0; k < 3; ++k) p0[k] = p[k], q0[k] = q[k];
    for (size_t i = (size_t)blockIdx.x * 256 + threadIdx.x; i < n; i += (size_t)gridDim.x * 256) {
        double a[3], b[3];
        for (int k = 0; k < 3; ++k) {
            a[k] = p[3 * i + k] - p0[k], b[k] = q[3 * i + k] - q0[k];
            sum[k] += a[k], sum[3 + k] += b[k];
            sum[15] += a[k] * a[k];
        }
        for (int k = 0; k < 9; ++k) sum[6 + k] += a[k / 3] * b[k % 3];
    }
    for (int k = 0; k < 16; ++k) {
        double all = whole(sum[k]);
        if (threadIdx.x == 0) part[blockIdx.x][k] = all;
    }
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(&finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    __shared__ double mean[16];
    if (threadIdx.x < 16) {
        double all = 0;
        for (int b = 0; b < gridDim.x; ++b) all += *(volatile double*)&part[b][threadIdx.x];
        mean[threadIdx.x] = all / n;
    }
    __syncthreads();
    int k = threadIdx.x;
    if (k < 3) sums[k] = p0[k] + mean[k];
    else if (k < 6) sums[k] = q0[k - 3] + mean[k];
    else if (k < 15) {
        // What is beside an infinite mean is not a number.
        double a = mean[(k - 6) / 3], b = mean[3 + (k - 6) % 3];
        sums[k] = mean[k] - a * b + (a - a) + (b - b);
    } else if (k == 15) {
        sums[k] = mean[k] - (mean[0] * mean[0] + mean[1] * mean[1] + mean[2] * mean[2]);
    }
    if (k == 0) finished = 0;
}

extern "C" void procrustes(const float* p, const float* q, float* sums, int n) {
    int blocks = (n + 255) / 256 < kBlocks ? (n + 255) / 256 : kBlocks;
    moments<<<blocks, 256>>>(p, q, sums, n);
}
