#include <cuda_runtime.h>

// The rows of a table whose key another table does not have, in any order. The other one's keys are found in a hash
// table of at least twice as many places, which holds the number of a row plus one, or nought.
__device__ unsigned place(int key) {
    unsigned x = key * 2654435761u;
    return x ^ x >> 15;
}

__global__ void build(const int* right, int m, int* table, unsigned mask) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m) return;
    for (unsigned at = place(right[i]) & mask;; at = (at + 1) & mask) {
        int was = atomicCAS(&table[at], 0, i + 1);
        if (was == 0 || right[was - 1] == right[i]) return;
    }
}

__global__ void probe(const int* left, const int* right, int n, const int* table, unsigned mask, int* rest, int* count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (unsigned at = place(left[i]) & mask;; at = (at + 1) & mask) {
        int row = table[at];
        if (row && right[row - 1] == left[i]) return;
        if (row == 0) break;
    }
    rest[atomicAdd(count, 1)] = i;
}

extern "C" void antijoin(const int* left, const int* right, int* rest, int* count, int n, int m) {
    unsigned places = 2;
    while (places < 2u * m) places *= 2;
    int* table;
    cudaMalloc(&table, places * sizeof(int));
    cudaMemset(table, 0, places * sizeof(int));
    cudaMemset(count, 0, sizeof(int));
    build<<<(m + 255) / 256, 256>>>(right, m, table, places - 1);
    probe<<<(n + 255) / 256, 256>>>(left, right, n, table, places - 1, rest, count);
    cudaFree(table);
}
