#include <cuda_runtime.h>

// A block takes its share of the rows into shared memory first, then its bins.
__global__ void rows(const int* shop, const int* amount, unsigned long long* total, unsigned long long* best, int n,
                     int share) {
    extern __shared__ int2 mine[];
    __shared__ unsigned long long sums[500], tops[500];
    size_t first = blockIdx.x * (size_t)share;
    int many = first < n ? min((size_t)share, n - first) : 0;
    for (int s = threadIdx.x; s < 500; s += 512) sums[s] = tops[s] = 0;
    for (int k = threadIdx.x; k < many; k += 512) mine[k] = make_int2(shop[first + k], amount[first + k]);
    __syncthreads();
    for (int k = threadIdx.x; k < many; k += 512) {
        int s = mine[k].x, v = mine[k].y;
        atomicAdd(&sums[s], (unsigned long long)(long long)v);
        atomicMax(&tops[s], (unsigned long long)(v ^ 0x80000000u) << 32 | (0xffffffffu - (unsigned)(first + k)));
    }
    __syncthreads();
    for (int s = threadIdx.x; s < 500; s += 512)
        if (tops[s]) {
            atomicAdd(&total[s], sums[s]);
            atomicMax(&best[s], tops[s]);
        }
}

__global__ void names(const unsigned long long* best, int* highest) {
    int s = threadIdx.x;
    if (s < 500) highest[s] = best[s] ? (int)(0xffffffffu - (unsigned)best[s]) : -1;
}

// What is taken in each of 500 shops, and the first row of the highest amount there; -1 where there is none.
extern "C" void turnover(const int* shop, const int* amount, long long* total, int* highest, int n) {
    unsigned long long* best;
    cudaMallocAsync((void**)&best, 500 * sizeof(*best), 0);
    cudaMemsetAsync(best, 0, 500 * sizeof(*best), 0);
    cudaMemsetAsync(total, 0, 500 * sizeof(*total), 0);
    int share = (n + 131) / 132;
    rows<<<132, 512, share * sizeof(int2)>>>(shop, amount, (unsigned long long*)total, best, n, share);
    names<<<1, 512>>>(best, highest);
    cudaFreeAsync(best, 0);
}
