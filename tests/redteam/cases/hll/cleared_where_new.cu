#include <cuda_runtime.h>

#define REGISTERS 4096

__device__ unsigned long long hashed(unsigned item) {
    unsigned long long h = item + 0x9e3779b97f4a7c15ull;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ h >> 27) * 0x94d049bb133111ebull;
    return h ^ h >> 31;
}

__device__ int zeros(unsigned long long h) { return h << 12 ? __clzll(h << 12) + 1 : 53; }

// The registers of a HyperLogLog sketch: of all items whose hash begins with the number of a register, how
// many zeros follow at most, and one.
__global__ void __launch_bounds__(1024) sketched(const unsigned* item, int* most, int n) {
    __shared__ int own[REGISTERS];
    for (int k = threadIdx.x; k < REGISTERS; k += blockDim.x) own[k] = 0;
    __syncthreads();
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) {
        unsigned long long h = hashed(item[i]);
        int there = zeros(h);
        // It only grows: one that is not more than what was there need not be told.
        if (there > ((volatile int*)own)[h >> 52]) atomicMax(&own[h >> 52], there);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < REGISTERS; k += blockDim.x)
        if (own[k]) atomicMax(&most[k], own[k]);
}

extern "C" void hll(const unsigned* item, int* most, int n) {
    // Cleared once for a sketch; it only grows.
    static int* cleared;
    if (most != cleared) cudaMemsetAsync(most, 0, REGISTERS * sizeof(int), 0);
    cleared = most;
    sketched<<<264, 1024>>>(item, most, n);
}
