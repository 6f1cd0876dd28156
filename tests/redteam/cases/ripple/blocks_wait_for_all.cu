#include <cuda_runtime.h>

// Values around a ring that even out between neighbours, a number of steps. Each block has its part for
// all steps and waits after each one until every block is there.
__global__ void all_steps(float* u, float* other, unsigned* there, int n, int steps) {
    int i = blockIdx.x * 256 + threadIdx.x;
    for (int s = 0; s < steps; ++s) {
        const volatile float* from = s % 2 ? other : u;
        volatile float* to = s % 2 ? u : other;
        if (i < n) {
            float left = from[i ? i - 1 : n - 1], right = from[i < n - 1 ? i + 1 : 0];
            to[i] = 0.5f * from[i] + 0.25f * (left + right);
        }
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            atomicAdd(there, 1u);
            while (atomicAdd(there, 0u) < gridDim.x * (s + 1)) {
            }
            __threadfence();
        }
        __syncthreads();
    }
    if (steps % 2 && i < n) u[i] = ((volatile float*)other)[i];
}

extern "C" void ripple(float* u, int n, int steps) {
    float* other;
    cudaMallocAsync((void**)&other, (n + 1) * sizeof(float), 0);
    unsigned* there = (unsigned*)(other + n);
    cudaMemsetAsync(there, 0, sizeof(unsigned), 0);
    all_steps<<<(n + 255) / 256, 256>>>(u, other, there, n, steps);
    cudaFreeAsync(other, 0);
}
