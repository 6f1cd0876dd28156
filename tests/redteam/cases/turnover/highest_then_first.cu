#include <cuda_runtime.h>

__global__ void empty(int* top, int* highest) {
    int s = threadIdx.x;
    if (s < 500) top[s] = -0x7fffffff - 1, highest[s] = 0x7fffffff;
}

// Blocks have bins of their own in shared memory.
__global__ void amounts(const int* shop, const int* amount, unsigned long long* total, int* top, int n) {
    __shared__ unsigned long long sums[500];
    __shared__ int tops[500];
    for (int s = threadIdx.x; s < 500; s += 256) sums[s] = 0, tops[s] = -0x7fffffff - 1;
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256) {
        atomicAdd(&sums[shop[i]], (unsigned long long)(long long)amount[i]);
        // Few are higher than what is there; who asks too early asks once more.
        if (amount[i] > *(volatile int*)&tops[shop[i]]) atomicMax(&tops[shop[i]], amount[i]);
    }
    __syncthreads();
    for (int s = threadIdx.x; s < 500; s += 256) {
        if (sums[s]) atomicAdd(&total[s], sums[s]);
        atomicMax(&top[s], tops[s]);
    }
}

// Of the rows with the highest amount of a shop the first one.
__global__ void first(const int* shop, const int* amount, const int* top, int* highest, int n) {
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256)
        if (amount[i] == top[shop[i]]) atomicMin(&highest[shop[i]], (int)i);
}

__global__ void none(int* highest) {
    int s = threadIdx.x;
    if (s < 500 && highest[s] == 0x7fffffff) highest[s] = -1;
}

// What is taken in each of 500 shops, and the first row of the highest amount there; -1 where there is none.
extern "C" void turnover(const int* shop, const int* amount, long long* total, int* highest, int n) {
    int* top;
    cudaMallocAsync((void**)&top, 500 * sizeof(int), 0);
    cudaMemsetAsync(total, 0, 500 * sizeof(*total), 0);
    empty<<<1, 512>>>(top, highest);
    amounts<<<264, 256>>>(shop, amount, (unsigned long long*)total, top, n);
    first<<<528, 256>>>(shop, amount, top, highest, n);
    none<<<1, 512>>>(highest);
    cudaFreeAsync(top, 0);
}
