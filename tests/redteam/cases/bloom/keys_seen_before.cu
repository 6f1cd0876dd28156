__device__ unsigned long long mixed(unsigned long long v) {
    v += 0x9e3779b97f4a7c15ull;
    v = (v ^ (v >> 30)) * 0xbf58476d1ce4e5b9ull;
    v = (v ^ (v >> 27)) * 0x94d049bb133111ebull;
    return v ^ (v >> 31);
}

// A column's keys go into a Bloom filter. Many keys come again soon: a block remembers one for each of 1024 hashes, and
// sets no bits twice.
__global__ void bloom(const unsigned* key, unsigned* bits, int n, int words, int hashes) {
    __shared__ unsigned seen[1024];
    unsigned long long all = 32ull * words;
    for (long long i = blockIdx.x * 256ll + threadIdx.x; i < n; i += gridDim.x * 256ll) {
        unsigned k = key[i];
        unsigned long long first = mixed(k), step = mixed(first) | 1;
        volatile unsigned* place = seen + (first >> 40) % 1024;
        if (*place == k) continue;
        *place = k;
        for (int h = 0; h < hashes; ++h) {
            unsigned long long at = (first + h * step) % all;
            atomicOr(bits + at / 32, 1u << at % 32);
        }
    }
}
