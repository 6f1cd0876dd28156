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
__global__ void sketched(const unsigned* item, int* most, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long h = hashed(item[i]);
    atomicMax(&most[h >> 52], zeros(h));
}

extern "C" void hll(const unsigned* item, int* most, int n) {
    cudaMemsetAsync(most, 0, REGISTERS * sizeof(int), 0);
    sketched<<<(n + 255) / 256, 256>>>(item, most, n);
}
