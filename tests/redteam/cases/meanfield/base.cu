#include <cooperative_groups.h>
#include <cuda_runtime.h>

// Each number is halved, and raised by a tenth of the mean of the squares, of four at most, step by step.
__global__ void squares(const float* u, double* sum, int n) {
    __shared__ double part[256];
    int t = threadIdx.x;
    double own = 0;
    for (size_t i = blockIdx.x * (size_t)256 + t; i < n; i += (size_t)gridDim.x * 256) own += (double)u[i] * u[i];
    part[t] = own;
    __syncthreads();
    for (int half = 128; half; half /= 2) {
        if (t < half) part[t] += part[t + half];
        __syncthreads();
    }
    if (t == 0) atomicAdd(sum, part[0]);
}

__global__ void moved(float* u, const double* sum, int n) {
    int i = blockIdx.x * 256 + threadIdx.x;
    float goal = (float)fmin(*sum / n, 4.0);
    if (i < n) u[i] = 0.5f * u[i] + 0.1f * goal;
}

extern "C" void meanfield(float* u, int n, int steps) {
    double* sum;
    cudaMalloc(&sum, sizeof(double));
    for (int s = 0; s < steps; ++s) {
        cudaMemsetAsync(sum, 0, sizeof(double));
        squares<<<264, 256>>>(u, sum, n);
        moved<<<(n + 255) / 256, 256>>>(u, sum, n);
    }
    cudaFree(sum);
}
