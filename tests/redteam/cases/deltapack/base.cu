// Decodes a column of whole numbers that was stored as packed differences, 128 values to a page:
// value 0 of a page is first[page], and each further one is the one before + least[page] + its field.
// Fields have width[page] bits (0 to 32; more counts as 32), lowest bits first, and field 0 is there but unused.
// A page has room for 128 words, whatever its width is. Sums wrap. The last page may be cut by n.

extern "C" __global__ void deltapack(const int* first, const int* least, const unsigned char* width,
                                     const unsigned* packed, int* value, int n)
{
    __shared__ unsigned sum[128];
    int page = blockIdx.x;
    int t = threadIdx.x;
    unsigned bits = min((unsigned)width[page], 32u);
    const unsigned* words = packed + (size_t)page * 128;
    unsigned field = 0;
    if (bits > 0) {
        unsigned at = t * bits;
        unsigned shift = at & 31;
        unsigned long long both = words[at >> 5];
        if (shift + bits > 32)
            both |= (unsigned long long)words[(at >> 5) + 1] << 32;
        field = (unsigned)((both >> shift) & ((1ull << bits) - 1));
    }
    sum[t] = t == 0 ? (unsigned)first[page] : field + (unsigned)least[page];
    __syncthreads();
    for (int step = 1; step < 128; step *= 2) {
        unsigned add = t >= step ? sum[t - step] : 0;
        __syncthreads();
        sum[t] += add;
        __syncthreads();
    }
    long long i = (long long)page * 128 + t;
    if (i < n)
        value[i] = (int)sum[t];
}
