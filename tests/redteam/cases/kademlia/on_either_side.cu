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
    // In order of their numbers the key lies between two nodes; of each, the first with that number.
    int after = first(sorted, 0, n, key);
    int at = after < n ? after : n - 1;
    if (after > 0) {
        int before = first(sorted, 0, after, (unsigned)(sorted[after - 1] >> 32));
        if (after == n || ((unsigned)(sorted[before] >> 32) ^ key) < ((unsigned)(sorted[after] >> 32) ^ key)) at = before;
    }
    nearest[i] = (int)(unsigned)sorted[at];
    distance[i] = (unsigned)(sorted[at] >> 32) ^ key;
}

void kademlia(const unsigned* nodes, const unsigned* keys, int* nearest, unsigned* distance, int n, int q) {
    unsigned long long *pairs, *sorted;
    void* room;
    size_t bytes = 0;
    cub::DeviceRadixSort::SortKeys(nullptr, bytes, (unsigned long long*)nullptr, (unsigned long long*)nullptr, n);
    cudaMallocAsync(&pairs, n * sizeof(unsigned long long), 0);
    cudaMallocAsync(&sorted, n * sizeof(unsigned long long), 0);
    cudaMallocAsync(&room, bytes, 0);
    number<<<(n + 255) / 256, 256>>>(nodes, pairs, n);
    cub::DeviceRadixSort::SortKeys(room, bytes, pairs, sorted, n);
    find<<<(q + 127) / 128, 128>>>(sorted, keys, nearest, distance, n, q);
    cudaFreeAsync(pairs, 0);
    cudaFreeAsync(sorted, 0);
    cudaFreeAsync(room, 0);
}
