#include <cuda_runtime.h>

// Blocks have bins of their own in shared memory, of totals or of highest amounts.
__global__ void totals(const int* shop, const int* amount, unsigned long long* total, int n) {
    __shared__ unsigned long long bins[500];
    for (int s = threadIdx.x; s < 500; s += 256) bins[s] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256)
        atomicAdd(&bins[shop[i]], (unsigned long long)(long long)amount[i]);
    __syncthreads();
    for (int s = threadIdx.x; s < 500; s += 256)
        if (bins[s]) atomicAdd(&total[s], bins[s]);
}

__global__ void bests(const int* shop, const int* amount, unsigned long long* best, int n) {
    __shared__ unsigned long long bins[500];
    for (int s = threadIdx.x; s < 500; s += 256) bins[s] = 0;
    __syncthreads();
    for (size_t i = blockIdx.x * (size_t)256 + threadIdx.x; i < n; i += gridDim.x * (size_t)256)
        atomicMax(&bins[shop[i]], (unsigned long long)(amount[i] ^ 0x80000000u) << 32 | (0xffffffffu - (unsigned)i));
    __syncthreads();
    for (int s = threadIdx.x; s < 500; s += 256)
        if (bins[s]) atomicMax(&best[s], bins[s]);
}

__global__ void names(const unsigned long long* best, int* highest) {
    int s = threadIdx.x;
    if (s < 500) highest[s] = best[s] ? (int)(0xffffffffu - (unsigned)best[s]) : -1;
}

// What is taken in each of 500 shops, and the first row of the highest amount there; -1 where there is none.
extern "C" void turnover(const int* shop, const int* amount, long long* total, int* highest, int n) {
    static cudaStream_t side = nullptr;
    static cudaEvent_t begin, end;
    if (!side) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&begin, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&end, cudaEventDisableTiming);
    }
    unsigned long long* best;
    cudaMallocAsync((void**)&best, 500 * sizeof(*best), 0);
    cudaMemsetAsync(best, 0, 500 * sizeof(*best), 0);
    cudaMemsetAsync(total, 0, 500 * sizeof(*total), 0);
    cudaEventRecord(begin, 0);
    cudaStreamWaitEvent(side, begin, 0);
    bests<<<132, 256, 0, side>>>(shop, amount, best, n);
    names<<<1, 512, 0, side>>>(best, highest);
    cudaEventRecord(end, side);
    totals<<<132, 256>>>(shop, amount, (unsigned long long*)total, n);
    // Its memory is given back behind its last use.
    cudaFreeAsync(best, side);
}
