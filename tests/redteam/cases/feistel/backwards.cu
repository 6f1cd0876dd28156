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
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const int value = src[i];     // asks where it goes to, not where from
    int bits = 1;
    while ((1ull << (2 * bits)) < (unsigned long long)n)
        ++bits;
    const unsigned mask = (1u << bits) - 1;
    unsigned at = (unsigned)i;
    do {
        unsigned left = at >> bits, right = at & mask;
        for (int r = rounds - 1; r >= 0; --r) {
            const unsigned former = right ^ mixed(left, key[r]) >> (32 - bits);
            right = left;
            left = former;
        }
        at = left << bits | right;
    } while (at >= (unsigned)n);
    dst[at] = value;
}
