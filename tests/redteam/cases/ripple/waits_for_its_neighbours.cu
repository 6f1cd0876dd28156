#include <cuda_runtime.h>

// Values around a ring that even out between neighbours, a number of steps. Each block has a part for all
// steps; before a step it waits until the blocks on both sides have done the step before.
__device__ void both_sides(volatile unsigned* done, unsigned left, unsigned right, unsigned steps) {
    if (threadIdx.x == 0)
        while (done[left] < steps) {
        }
    if (threadIdx.x == 32)
        while (done[right] < steps) {
        }
    __threadfence();
    __syncthreads();
}

__global__ void all_steps(float* u, float* other, unsigned* done, int n, int steps, int each) {
    unsigned left = blockIdx.x ? blockIdx.x - 1 : gridDim.x - 1, right = (blockIdx.x + 1) % gridDim.x;
    int start = blockIdx.x * each, end = min(n, start + each);
    for (int s = 0; s < steps; ++s) {
        both_sides(done, left, right, s);
        const float* from = s % 2 ? other : u;
        float* to = s % 2 ? u : other;
        for (int i = start + threadIdx.x; i < end; i += 512) {
            float before = __ldcg(from + (i ? i - 1 : n - 1)), after = __ldcg(from + (i < n - 1 ? i + 1 : 0));
            __stcg(to + i, 0.5f * __ldcg(from + i) + 0.25f * (before + after));
        }
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(done + blockIdx.x, s + 1u);
    }
    if (steps % 2 == 0) return;
    both_sides(done, left, right, steps);
    for (int i = start + threadIdx.x; i < end; i += 512) u[i] = __ldcg(other + i);
}

extern "C" void ripple(float* u, int n, int steps) {
    int device, cores;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&cores, cudaDevAttrMultiProcessorCount, device);
    int each = (n + cores - 1) / cores, blocks = (n + each - 1) / each;
    float* other;
    unsigned* done;
    cudaMallocAsync((void**)&other, n * sizeof(float), 0);
    cudaMallocAsync((void**)&done, blocks * sizeof(unsigned), 0);
    cudaMemsetAsync(done, 0, blocks * sizeof(unsigned), 0);
    void* arguments[] = {&u, &other, &done, &n, &steps, &each};
    cudaLaunchCooperativeKernel((const void*)all_steps, dim3(blocks), dim3(512), arguments, 0, 0);
    cudaFreeAsync(done, 0);
    cudaFreeAsync(other, 0);
}
