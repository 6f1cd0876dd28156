#include <cuda_runtime.h>
#define GROUPS 20000

__global__ void totals(const int* key, const int* amount, unsigned long long* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned k = key[i];
    if (k < GROUPS) atomicAdd(&total[k], (unsigned long long)(long long)amount[i]);
}

// A block lists its groups first, and asks for their places at once.
__global__ void emit(const unsigned long long* total, int* group, int* count, int limit) {
    __shared__ int list[256], many, first;
    int k = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    if (t == 0) many = 0;
    __syncthreads();
    if (k < GROUPS && (long long)total[k] >= limit) list[atomicAdd(&many, 1)] = k;
    __syncthreads();
    if (t == 0) first = atomicAdd(count, many);
    if (t < many) group[first + t] = list[t];
}

// Which of 20000 groups of rows have a total of so much at least, in any order, and how many they are; -1 behind them.
extern "C" void having(const int* key, const int* amount, int* group, int* count, int n, int limit) {
    unsigned long long* total;
    cudaMalloc(&total, GROUPS * sizeof(*total));
    cudaMemset(total, 0, GROUPS * sizeof(*total));
    cudaMemset(group, 0xff, GROUPS * sizeof(*group));
    cudaMemset(count, 0, sizeof(*count));
    totals<<<(n + 255) / 256, 256>>>(key, amount, total, n);
    emit<<<(GROUPS + 255) / 256, 256>>>(total, group, count, limit);
    cudaFree(total);
}
