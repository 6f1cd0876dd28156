#include <cuda_runtime.h>

__global__ void rows(const int* shop, const int* amount, unsigned long long* total, unsigned long long* best, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&total[shop[i]], (unsigned long long)(long long)amount[i]);
    // Higher amounts first, then lower rows.
    atomicMax(&best[shop[i]], (unsigned long long)(amount[i] ^ 0x80000000u) << 32 | (0xffffffffu - i));
}

__global__ void names(const unsigned long long* best, int* highest) {
    int s = threadIdx.x;
    if (s < 500) highest[s] = best[s] ? (int)(0xffffffffu - (unsigned)best[s]) : -1;
}

// What is taken in each of 500 shops, and the first row of the highest amount there; -1 where there is none.
extern "C" void turnover(const int* shop, const int* amount, long long* total, int* highest, int n) {
    unsigned long long* best;
    cudaMalloc(&best, 500 * sizeof(*best));
    cudaMemset(best, 0, 500 * sizeof(*best));
    cudaMemset(total, 0, 500 * sizeof(*total));
    rows<<<(n + 255) / 256, 256>>>(shop, amount, (unsigned long long*)total, best, n);
    names<<<1, 512>>>(best, highest);
    cudaFree(best);
}
