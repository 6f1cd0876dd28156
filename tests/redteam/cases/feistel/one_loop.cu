// Shuffles a list by a keyed permutation: a Feistel network over the next power of four, walked on until the
// place is one of the list.
__device__ unsigned mixed(unsigned half, unsigned key)
{
    unsigned v = (half ^ key) * 0x9e3779b1u;
    v ^= v >> 15;
    return v * 0x85ebca6bu;
}

__global__ void feistel(const int* __restrict__ src, const unsigned* __restrict__ key, int* __restrict__ dst, int n,
                        int rounds)
{
    long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    int bits = 1;
    while ((1ull << (2 * bits)) < (unsigned long long)n)
        ++bits;
    const unsigned mask = (1u << bits) - 1;
    unsigned at = (unsigned)i;
    // a thread that is done goes on with its next place while the others of its warp walk on
    const long long stride = (long long)gridDim.x * blockDim.x;
    while (i < n) {
        unsigned left = at >> bits, right = at & mask;
        for (int r = 0; r < rounds; ++r) {
            const unsigned next = left ^ mixed(right, key[r]) >> (32 - bits);
            left = right;
            right = next;
        }
        at = left << bits | right;
        if (at < (unsigned)n) {
            dst[i] = src[at];
            i += stride;
            at = (unsigned)i;
        }
    }
}
