// A distributed hash table: which of the nodes is responsible for each key, that is, has the least XOR with it
// (of several with the same number the first in the list), and that distance.
#include <cuda_runtime.h>

__global__ void find(const unsigned* __restrict__ nodes, const unsigned* __restrict__ keys, int* nearest,
                     unsigned* distance, int n, int q) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= q) return;
    unsigned key = keys[i], least = nodes[0] ^ key;
    int at = 0;
    for (int j = 1; j < n; j++) {
        unsigned d = nodes[j] ^ key;
        if (d < least) {
            least = d;
            at = j;
        }
    }
    nearest[i] = at;
    distance[i] = least;
}

void kademlia(const unsigned* nodes, const unsigned* keys, int* nearest, unsigned* distance, int n, int q) {
    find<<<(q + 127) / 128, 128>>>(nodes, keys, nearest, distance, n, q);
}
