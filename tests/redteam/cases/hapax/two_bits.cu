// Hapax legomena: for every document of a corpus, how many word types occur
// exactly once, and how many types occur at all.  One block per document.
// Two-bit counters (0, 1, "2 or more"), sixteen to a word, one array in place of two.
#define VOCAB 8192
#define PACKED (VOCAB / 16)

extern "C" __global__ void hapax(const int* token, int* once, int* types, int docs, int len)
{
    __shared__ unsigned count[PACKED];
    __shared__ int total[2];
    const int doc = blockIdx.x;
    if (doc >= docs) return;
    for (int i = threadIdx.x; i < PACKED; i += blockDim.x) count[i] = 0;
    if (threadIdx.x < 2) total[threadIdx.x] = 0;
    __syncthreads();

    const int* row = token + (size_t)doc * len;
    for (int i = threadIdx.x; i < len; i += blockDim.x) {
        const int t = row[i];
        const int shift = 2 * (t & 15);
        unsigned guess = 0;                       // the first exchange reports the real value
        while (((guess >> shift) & 3u) < 2u) {
            const unsigned was = atomicCAS(&count[t >> 4], guess, guess + (1u << shift));
            if (was == guess) break;
            guess = was;
        }
    }
    __syncthreads();

    int single = 0, kinds = 0;
    for (int i = threadIdx.x; i < PACKED; i += blockDim.x) {
        const unsigned low = count[i] & 0x55555555u, high = (count[i] >> 1) & 0x55555555u;
        single += __popc(low);
        kinds += __popc(low | high);
    }
    atomicAdd(&total[0], single);
    atomicAdd(&total[1], kinds);
    __syncthreads();
    if (threadIdx.x == 0) { once[doc] = total[0]; types[doc] = total[1]; }
}
