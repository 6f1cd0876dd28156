// A distributed hash table: which of the nodes is responsible for each key, that is, has the least XOR with it
// (of several with the same number the first in the list), and that distance.
#include <climits>
#include <cuda_runtime.h>

__global__ void find(const unsigned* __restrict__ nodes, const unsigned* __restrict__ keys, int* nearest,
                     unsigned* distance, int n, int q) {
    int i = blockIdx.x * 4 + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    if (i >= q) return;
    unsigned key = keys[i], least = 0xffffffffu;
    int at = INT_MAX;
    for (int j = lane; j < n; j += 32) {
        unsigned d = nodes[j] ^ key;
        if (at == INT_MAX || d < least) {
            least = d;
            at = j;
        }
    }
    unsigned all = __reduce_min_sync(0xffffffffu, least);
    unsigned having = __ballot_sync(0xffffffffu, at != INT_MAX && least == all);
    if (lane == __ffs(having) - 1) {
        nearest[i] = at;
        distance[i] = all;
    }
}

void kademlia(const unsigned* nodes, const unsigned* keys, int* nearest, unsigned* distance, int n, int q) {
    find<<<(q + 3) / 4, 128>>>(nodes, keys, nearest, distance, n, q);
}
