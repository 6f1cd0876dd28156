__constant__ unsigned seeds[4] = {0x3c8bfbb3u, 0x9ad1e05fu, 0x51f36c9au, 0xe70294d6u};

__device__ unsigned turned(unsigned v, int by) { return __funnelshift_l(v, v, by); }

// The places of a sequence at which a word of k letters begins whose hash is small, in any order; and how many.
// Eight places a thread: a letter leaves the hash and another one enters it.
__global__ void anchors(const unsigned char* letter, int* place, int* count, int n, int k, unsigned limit) {
    long long first = 8 * (blockIdx.x * (long long)blockDim.x + threadIdx.x), end = (long long)n - k + 1;
    if (first >= end) return;
    if (end > first + 8) end = first + 8;
    unsigned hash = 0, small = 0;
    for (int j = 0; j < k; ++j) hash = turned(hash, 1) ^ seeds[letter[first + j] & 3];
    small = hash < limit;
    for (long long i = first + 1; i < end; ++i) {
        hash = turned(hash, 1) ^ turned(seeds[letter[i - 1] & 3], k & 31) ^ seeds[letter[i + k - 1] & 3];
        if (hash < limit) small |= 1u << (i - first);
    }
    if (!small) return;
    int to = atomicAdd(count, __popc(small));
    for (; small; small &= small - 1) place[to++] = (int)first + __ffs(small) - 1;
}
