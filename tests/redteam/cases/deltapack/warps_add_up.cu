// Decodes a column of whole numbers that was stored as packed differences, 128 values to a page:
// value 0 of a page is first[page], and each further one is the one before + least[page] + its field.
// Fields have width[page] bits (0 to 32; more counts as 32), lowest bits first, and field 0 is there but unused.
// A page has room for 128 words, whatever its width is. Sums wrap. The last page may be cut by n.

// The field at place t of a page.
__device__ __forceinline__ unsigned field_at(const unsigned* words, unsigned bits, int t)
{
    if (bits == 0)
        return 0;
    unsigned at = t * bits;
    unsigned shift = at & 31;
    unsigned long long both = words[at >> 5];
    if (shift + bits > 32)
        both |= (unsigned long long)words[(at >> 5) + 1] << 32;
    return (unsigned)((both >> shift) & ((1ull << bits) - 1));
}

// Each warp scans its 32 values, and adds what the warps before it have in all.
extern "C" __global__ void deltapack(const int* first, const int* least, const unsigned char* width,
                                     const unsigned* packed, int* value, int n)
{
    __shared__ unsigned total[4];
    int page = blockIdx.x;
    int t = threadIdx.x;
    int lane = t & 31;
    int warp = t >> 5;
    unsigned bits = min((unsigned)width[page], 32u);
    const unsigned* words = packed + (size_t)page * 128;
    unsigned sum = t == 0 ? (unsigned)first[page] : field_at(words, bits, t) + (unsigned)least[page];
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        unsigned left = __shfl_up_sync(0xFFFFFFFFu, sum, step);
        if (lane >= step)
            sum += left;
    }
    if (lane == 31)
        total[warp] = sum;
    __syncwarp();
    for (int w = 0; w < warp; w++)
        sum += total[w];
    long long i = (long long)page * 128 + t;
    if (i < n)
        value[i] = (int)sum;
}
