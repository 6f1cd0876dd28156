#include <cuda_runtime.h>

// What a vehicle pays: x its gate, y its way, z its class, w a fee.
__device__ long long pays(int4 v) { return (long long)v.y * ((v.z & 3) + 1) + v.w; }

// Each passage adds to its gate.
__global__ void passages(const int4* seen, unsigned long long* taken, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&taken[seen[i].x & 255], (unsigned long long)pays(seen[i]));
}

// The passages that pay more than a limit, in any order.
__global__ void dear_ones(const int4* seen, int* dear, int* count, int n, int limit) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n && pays(seen[i]) > limit) dear[atomicAdd(count, 1)] = i;
}

// What 256 gates of a road have taken, and which passages were dear, with -1 behind them.
extern "C" void toll(const int4* seen, long long* taken, int* dear, int* count, int n, int limit) {
    cudaMemsetAsync(taken, 0, 256 * sizeof(long long), 0);
    cudaMemsetAsync(dear, 0xff, n * sizeof(int), 0);
    cudaMemsetAsync(count, 0, sizeof(int), 0);
    passages<<<(n + 255) / 256, 256>>>(seen, (unsigned long long*)taken, n);
    dear_ones<<<(n + 255) / 256, 256>>>(seen, dear, count, n, limit);
}
