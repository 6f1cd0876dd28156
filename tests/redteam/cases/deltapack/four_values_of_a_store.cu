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

// A warp decodes a page, four values to a lane.
extern "C" __global__ void deltapack(const int* first, const int* least, const unsigned char* width,
                                     const unsigned* packed, int* value, int n)
{
    int page = blockIdx.x * 4 + threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    if (page * 128ll >= n)
        return;
    unsigned bits = min((unsigned)width[page], 32u);
    unsigned least_of = (unsigned)least[page];
    const unsigned* words = packed + (size_t)page * 128;
    unsigned part[4];
    unsigned sum = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int t = 4 * lane + k;
        sum += t == 0 ? (unsigned)first[page] : field_at(words, bits, t) + least_of;
        part[k] = sum;
    }
    unsigned before = sum;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        unsigned left = __shfl_up_sync(0xFFFFFFFFu, before, step);
        if (lane >= step)
            before += left;
    }
    before -= sum;
    long long i = page * 128ll + 4 * lane;
    int4 four = make_int4(before + part[0], before + part[1], before + part[2], before + part[3]);
    if (((size_t)value & 15) == 0 && i < n)
        *(int4*)(value + i) = four;
    else {
        const int each[4] = {four.x, four.y, four.z, four.w};
        for (int k = 0; k < 4 && i + k < n; k++)
            value[i + k] = each[k];
    }
}
