#include <cuda_runtime.h>

// Values around a ring that even out between neighbours, a number of steps.
__global__ void step(const float* u, float* next, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float left = u[i ? i - 1 : n - 1], right = u[i < n - 1 ? i + 1 : 0];
    next[i] = 0.5f * u[i] + 0.25f * (left + right);
}

extern "C" void ripple(float* u, int n, int steps) {
    float* other;
    cudaMalloc(&other, n * sizeof(float));
    for (int s = 0; s < steps; ++s) {
        step<<<(n + 255) / 256, 256>>>(s % 2 ? other : u, s % 2 ? u : other, n);
    }
    if (steps % 2) cudaMemcpyAsync(u, other, n * sizeof(float), cudaMemcpyDeviceToDevice);
    cudaFree(other);
}
