__device__ unsigned long long mixed(unsigned long long v) {
    v += 0x9e3779b97f4a7c15ull;
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ull;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebull;
    return v ^ (v >> 31);
}

// A column's keys go into a Bloom filter: each sets one bit for each hash.
__global__ void bloom(const unsigned* key, unsigned* bits, int n, int words, int hashes) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long first = mixed(key[i]), step = mixed(first) | 1, all = 32ull * words;
    for (int h = 0; h < hashes; ++h) {
        unsigned long long at = (first + h * step) % all;
        atomicOr(bits + at / 32, 1u << at % 32);
    }
}
