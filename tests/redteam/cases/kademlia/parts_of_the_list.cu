// A distributed hash table: which of the nodes is responsible for each key, that is, has the least XOR with it
// (of several with the same number the first in the list), and that distance.
#include <cuda_runtime.h>

__global__ void none(unsigned long long* best, int q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < q) best[i] = ~0ull;
}

__global__ void find(const unsigned* __restrict__ nodes, const unsigned* __restrict__ keys,
                     unsigned long long* best, int n, int q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= q) return;
    int from = (int)((long long)n * blockIdx.y / gridDim.y), to = (int)((long long)n * (blockIdx.y + 1) / gridDim.y);
    unsigned key = keys[i];
    unsigned long long least = ~0ull;
    for (int j = from; j < to; j++) least = min(least, (unsigned long long)(nodes[j] ^ key) << 32 | (unsigned)j);
    atomicMin(&best[i], least);
}

__global__ void apart(const unsigned long long* best, int* nearest, unsigned* distance, int q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= q) return;
    nearest[i] = (int)(unsigned)best[i];
    distance[i] = (unsigned)(best[i] >> 32);
}

void kademlia(const unsigned* nodes, const unsigned* keys, int* nearest, unsigned* distance, int n, int q) {
    unsigned long long* best;
    cudaMallocAsync(&best, q * sizeof(unsigned long long), 0);
    unsigned blocks = (q + 127) / 128;
    none<<<blocks, 128>>>(best, q);
    find<<<dim3(blocks, 16), 128>>>(nodes, keys, best, n, q);
    apart<<<blocks, 128>>>(best, nearest, distance, q);
    cudaFreeAsync(best, 0);
}
