// Hapax legomena: for every document of a corpus, how many word types occur
// exactly once, and how many types occur at all.  One warp per document, no block barriers.
#define VOCAB 8192
#define WORDS (VOCAB / 32)
#define WARPS 8

extern "C" __global__ void hapax(const int* token, int* once, int* types, int docs, int len)
{
    __shared__ unsigned seen_all[WARPS][WORDS], again_all[WARPS][WORDS];
    const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    const int doc = blockIdx.x * WARPS + warp;
    if (doc >= docs) return;
    unsigned* seen = seen_all[warp];
    unsigned* again = again_all[warp];
    for (int i = lane; i < WORDS; i += 32) { seen[i] = 0; again[i] = 0; }
    __syncwarp();

    const int* row = token + (size_t)doc * len;
    for (int i = lane; i < len; i += 32) {
        const int t = row[i];
        const unsigned bit = 1u << (t & 31);
        if (atomicOr(&seen[t >> 5], bit) & bit) atomicOr(&again[t >> 5], bit);
    }
    __syncwarp();

    // both counts ride in one word: at most 8192 each
    unsigned both = 0;
    for (int i = lane; i < WORDS; i += 32)
        both += __popc(seen[i] & ~again[i]) | (__popc(seen[i]) << 16);
    both = __reduce_add_sync(0xffffffffu, both);
    if (lane == 0) { once[doc] = both & 0xffff; types[doc] = both >> 16; }
}
