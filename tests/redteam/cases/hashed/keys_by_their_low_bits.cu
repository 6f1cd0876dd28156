#include <cuda_runtime.h>

// Adds weights by key in a table with open addresses, then looks up each key, and queries.
__device__ unsigned start(int key, unsigned mask) {
    unsigned v = (unsigned)key * 2654435769u;
    return (v ^ v >> 15) & mask;
}

__global__ void clear(int* keys, int* sums, int slots) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < slots) {
        keys[i] = -1;
        sums[i] = 0;
    }
}

__global__ void insert(const int* key, const int* weight, int n, int* keys, int* sums, unsigned mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (unsigned at = start(key[i], mask);; at = (at + 1) & mask) {
        int held = atomicCAS(&keys[at], -1, key[i]);
        if (held == -1 || ((held ^ key[i]) & 0xffff) == 0) {
            atomicAdd(&sums[at], weight[i]);
            return;
        }
    }
}

__global__ void look(const int* key, const int* query, int* sum, int* found, int n, const int* keys,
                     const int* sums, unsigned mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned at = start(key[i], mask);
    while ((keys[at] ^ key[i]) & 0xffff) at = (at + 1) & mask;
    sum[i] = sums[at];
    at = start(query[i], mask);
    while (keys[at] != query[i] && keys[at] != -1) at = (at + 1) & mask;
    found[i] = keys[at] == query[i] ? sums[at] : 0;
}

extern "C" void hashed(const int* key, const int* weight, const int* query, int* sum, int* found, int n) {
    int slots = 2;
    while (slots < 2 * n) slots *= 2;
    int* keys;
    cudaMalloc(&keys, 2 * slots * sizeof(int));
    int* sums = keys + slots;
    clear<<<(slots + 255) / 256, 256>>>(keys, sums, slots);
    insert<<<(n + 255) / 256, 256>>>(key, weight, n, keys, sums, slots - 1);
    look<<<(n + 255) / 256, 256>>>(key, query, sum, found, n, keys, sums, slots - 1);
    cudaFree(keys);
}
