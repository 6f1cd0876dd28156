#include <cuda_runtime.h>

__global__ void mark(const int* build, unsigned* bits, int m) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    unsigned k = build[i];
    if (k < 65536) atomicOr(&bits[k / 32], 1u << k % 32);
}

// Blocks stay, with the bits in shared memory; lanes that found something ask for room together.
__global__ void match(const int* key, const unsigned* bits, int* row, int* count, int n) {
    __shared__ unsigned set[2048];
    for (int w = threadIdx.x; w < 2048; w += 256) set[w] = bits[w];
    int lane = threadIdx.x % 32;
    for (size_t first = blockIdx.x * (size_t)256; first < n; first += gridDim.x * (size_t)256) {
        size_t i = first + threadIdx.x;
        unsigned k = i < n ? key[i] : 65536;
        bool found = k < 65536 && set[k / 32] >> k % 32 & 1;
        unsigned who = __ballot_sync(0xffffffffu, found);
        int at = 0;
        if (lane == 0 && who) at = atomicAdd(count, __popc(who));
        at = __shfl_sync(0xffffffffu, at, 0);
        if (found) row[at + __popc(who & ((1u << lane) - 1))] = i;
    }
}

// Which rows of a table have a key that rows of another one have, too, and how many they are; in any order. Keys below
// 65536 count.
extern "C" void probe(const int* build, const int* key, int* row, int* count, int m, int n) {
    unsigned* bits;
    cudaMalloc(&bits, 8192);
    cudaMemset(bits, 0, 8192);
    cudaMemset(count, 0, sizeof(int));
    mark<<<(m + 255) / 256, 256>>>(build, bits, m);
    match<<<264, 256>>>(key, bits, row, count, n);
    cudaFree(bits);
}
