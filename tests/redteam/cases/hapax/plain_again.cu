// Hapax legomena: for every document of a corpus, how many word types occur
// exactly once, and how many types occur at all.  One block per document.
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
    for (int i = threadIdx.x; i < len; i += blockDim.x) {
        const int t = row[i];
        const unsigned bit = 1u << (t & 31);
        const unsigned old = atomicOr(&seen[t >> 5], bit);
        if (old & bit) again[t >> 5] |= bit;      // bits are only ever added, no need to lock
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
