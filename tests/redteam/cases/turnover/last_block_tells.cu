#include <cuda_runtime.h>

// Blocks have bins of their own in shared memory; the one that comes last tells what all have found.
__global__ void rows(const int* shop, const int* amount, unsigned long long* best, unsigned* done, long long* total,
                     int* highest, int n) {
    __shared__ unsigned long long sums[500], tops[500];
    __shared__ bool last;
    for (int s = threadIdx.x; s < 500; s += 256) sums[s] = tops[s] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256) {
        int s = shop[i];
        atomicAdd(&sums[s], (unsigned long long)(long long)amount[i]);
        atomicMax(&tops[s], (unsigned long long)(amount[i] ^ 0x80000000u) << 32 | (0xffffffffu - (unsigned)i));
    }
    __syncthreads();
    for (int s = threadIdx.x; s < 500; s += 256)
        if (tops[s]) {
            atomicAdd((unsigned long long*)&total[s], sums[s]);
            atomicMax(&best[s], tops[s]);
        }
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(done, 1u) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    for (int s = threadIdx.x; s < 500; s += 256) {
        unsigned long long b = __ldcg(&best[s]);
        highest[s] = b ? (int)(0xffffffffu - (unsigned)b) : -1;
    }
}

// What is taken in each of 500 shops, and the first row of the highest amount there; -1 where there is none.
extern "C" void turnover(const int* shop, const int* amount, long long* total, int* highest, int n) {
    unsigned long long* best;
    cudaMallocAsync((void**)&best, 501 * sizeof(*best), 0);
    cudaMemsetAsync(best, 0, 501 * sizeof(*best), 0);
    cudaMemsetAsync(total, 0, 500 * sizeof(*total), 0);
    int blocks = n < 264 * 256 ? (n + 255) / 256 : 264;
    rows<<<blocks, 256>>>(shop, amount, best, (unsigned*)(best + 500), total, highest, n);
    cudaFreeAsync(best, 0);
}
