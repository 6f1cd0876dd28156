// Hapax legomena: for every document of a corpus, how many word types occur
// exactly once, and how many types occur at all.  One block per document.
// Equal tokens of a warp are merged first, so that common words cost one atomic a warp.
#define VOCAB 8192
#define WORDS (VOCAB / 32)

extern "C" __global__ void hapax(const int* token, int* once, int* types, int docs, int len)
{
    __shared__ unsigned seen[WORDS], again[WORDS];
    __shared__ int total[2];
    const int doc = blockIdx.x;
    if (doc >= docs) return;
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x) { seen[i] = 0; again[i] = 0; }
    if (threadIdx.x < 2) total[threadIdx.x] = 0;
    __syncthreads();

    const int* row = token + (size_t)doc * len;
    const int lane = threadIdx.x & 31;
    for (int first = threadIdx.x - lane; first < len; first += blockDim.x) {
        const int i = first + lane;
        const int t = i < len ? row[i] : -1;
        const unsigned same = __match_any_sync(0xffffffffu, t);
        if (t < 0 || lane != __ffs(same) - 1) continue;
        const unsigned bit = 1u << (t & 31);
        const unsigned old = atomicOr(&seen[t >> 5], bit);
        if ((old & bit) || (same & (same - 1))) atomicOr(&again[t >> 5], bit);
    }
    __syncthreads();

    int single = 0, kinds = 0;
    for (int i = threadIdx.x; i < WORDS; i += blockDim.x) {
        single += __popc(seen[i] & ~again[i]);
        kinds += __popc(seen[i]);
    }
    atomicAdd(&total[0], single);
    atomicAdd(&total[1], kinds);
    __syncthreads();
    if (threadIdx.x == 0) { once[doc] = total[0]; types[doc] = total[1]; }
}
