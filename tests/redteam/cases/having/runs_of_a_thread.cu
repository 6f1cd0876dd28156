#include <cuda_runtime.h>
#define GROUPS 20000

// A thread has four rows, and adds up those of one group that follow each other.
__global__ void totals(const int* key, const int* amount, unsigned long long* total, int n) {
    size_t first = 4 * (blockIdx.x * (size_t)blockDim.x + threadIdx.x);
    unsigned last = ~0u;
    unsigned long long sum = 0;
    for (size_t i = first; i < n && i < first + 4; ++i) {
        unsigned k = key[i];
        if (k != last) {
            if (last < GROUPS) atomicAdd(&total[last], sum);
            last = k;
            sum = 0;
        }
        sum += (unsigned long long)(long long)amount[i];
    }
    if (last < GROUPS) atomicAdd(&total[last], sum);
}

__global__ void emit(const unsigned long long* total, int* group, int* count, int limit) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < GROUPS && (long long)total[k] >= limit) group[atomicAdd(count, 1)] = k;
}

// Which of 20000 groups of rows have a total of so much at least, in any order, and how many they are; -1 behind them.
extern "C" void having(const int* key, const int* amount, int* group, int* count, int n, int limit) {
    unsigned long long* total;
    cudaMalloc(&total, GROUPS * sizeof(*total));
    cudaMemset(total, 0, GROUPS * sizeof(*total));
    cudaMemset(group, 0xff, GROUPS * sizeof(*group));
    cudaMemset(count, 0, sizeof(*count));
    totals<<<n / 1024 + 1, 256>>>(key, amount, total, n);
    emit<<<(GROUPS + 255) / 256, 256>>>(total, group, count, limit);
    cudaFree(total);
}
