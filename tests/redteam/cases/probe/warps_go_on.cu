#include <cuda_runtime.h>

__global__ void mark(const int* build, unsigned* bits, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    unsigned k = build[i];
    if (k < 65536) atomicOr(&bits[k / 32], 1u << k % 32);
}

// A block keeps a list of up to 1024 rows and asks for room once; warps go on where the last one ended.
__global__ void match(const int* key, const unsigned* bits, int* row, int* count, int n) {
    __shared__ int list[1024], at;
    __shared__ volatile int many;
    if (threadIdx.x == 0) many = 0;
    __syncthreads();
    for (int u = 0; u < 4; ++u) {
        size_t i = blockIdx.x * (size_t)1024 + u * 256 + threadIdx.x;
        unsigned k = i < n ? key[i] : 65536;
        bool found = k < 65536 && bits[k / 32] >> k % 32 & 1;
        unsigned who = __ballot_sync(0xffffffffu, found);
        int lane = threadIdx.x % 32, first = 0;
        if (lane == 0 && who) {
            first = many;
            many = first + __popc(who);
        }
        first = __shfl_sync(0xffffffffu, first, 0);
        if (found) list[first + __popc(who & ((1u << lane) - 1))] = i;
    }
    __syncthreads();
    if (threadIdx.x == 0) at = atomicAdd(count, many);
    __syncthreads();
    for (int e = threadIdx.x; e < many; e += 256) row[at + e] = list[e];
}

// Which rows of a table have a key that rows of another one have, too, and how many they are; in any order. Keys below
// 65536 count.
extern "C" void probe(const int* build, const int* key, int* row, int* count, int m, int n) {
    unsigned* bits;
    cudaMalloc(&bits, 8192);
    cudaMemset(bits, 0, 8192);
    cudaMemset(count, 0, sizeof(int));
    mark<<<(m + 255) / 256, 256>>>(build, bits, m);
    match<<<(n + 1023) / 1024, 256>>>(key, bits, row, count, n);
    cudaFree(bits);
}
