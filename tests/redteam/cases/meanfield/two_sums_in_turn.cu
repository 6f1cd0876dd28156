#include <cooperative_groups.h>
#include <cuda_runtime.h>

// Each number is halved, and raised by a tenth of the mean of the squares, of four at most, step by step.
// All steps in one launch: two sums take turns, and the other one is cleared for the next step.
__global__ void settled(float* u, double* sum, int n, int steps) {
    __shared__ double part[8];
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int t = threadIdx.x;
    // A run of numbers for each block, of 8192 at least.
    size_t stride = 256, wide = gridDim.x * stride, run = max((size_t)8192, (n + wide - 1) / wide * 256);
    size_t begin = blockIdx.x * run + t, end = min((size_t)n, (blockIdx.x + 1) * run);
    for (int s = 0; s < steps; ++s) {
        double own = 0;
        for (size_t i = begin; i < end; i += stride) own += (double)u[i] * u[i];
        for (int d = 16; d; d /= 2) own += __shfl_down_sync(0xffffffffu, own, d);
        if (t % 32 == 0) part[t / 32] = own;
        __syncthreads();
        if (t == 0) {
            for (int k = 1; k < 8; ++k) own += part[k];
            atomicAdd(sum + s % 2, own);
        }
        grid.sync();
        float goal = (float)fmin(*(volatile double*)(sum + s % 2) / n, 4.0);
        for (size_t i = begin; i < end; i += stride) u[i] = 0.5f * u[i] + 0.1f * goal;
        if (blockIdx.x == 0 && t == 0) sum[(s + 1) % 2] = 0;
    }
}

extern "C" void meanfield(float* u, int n, int steps) {
    int device, cores, fit;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, device);
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, settled, 256, 0);
    double* sum;
    cudaMalloc(&sum, 3 * sizeof(double));
    cudaMemsetAsync(sum, 0, 3 * sizeof(double));
    void* with[] = {&u, &sum, &n, &steps};
    cudaLaunchCooperativeKernel((void*)settled, dim3(cores * min(fit, 4)), dim3(256), with, 0, 0);
    cudaFree(sum);
}
