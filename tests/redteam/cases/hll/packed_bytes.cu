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
    // Four registers a word, so that twice as many blocks have room.
    __shared__ unsigned own[REGISTERS / 4];
    for (int k = threadIdx.x; k < REGISTERS / 4; k += blockDim.x) own[k] = 0u;
    __syncthreads();
    size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += step) {
        unsigned long long h = hashed(item[i]);
        int there = zeros(h);
        unsigned at = (unsigned)(h >> 52), shift = at % 4 * 8, seen = ((volatile unsigned*)own)[at / 4];
        while (there > (seen >> shift & 255u)) {
            unsigned told = (seen & ~(255u << shift)) | (unsigned)there << shift;
            unsigned was = atomicCAS(&own[at / 4], seen, told);
            if (was == seen) break;
            seen = was;
        }
    }
    __syncthreads();
    for (int k = threadIdx.x; k < REGISTERS; k += blockDim.x)
        if (int there = own[k / 4] >> k % 4 * 8 & 255u) atomicMax(&most[k], there);
}

extern "C" void hll(const unsigned* item, int* most, int n) {
    cudaMemsetAsync(most, 0, REGISTERS * sizeof(int), 0);
    sketched<<<264, 1024>>>(item, most, n);
}
