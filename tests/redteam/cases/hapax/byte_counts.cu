// Hapax legomena: for every document of a corpus, how many word types occur
// exactly once, and how many types occur at all.  One block per document.
#define VOCAB 8192
#define PACKED (VOCAB / 4)

extern "C" __global__ void hapax(const int* token, int* once, int* types, int docs, int len)
{
    __shared__ unsigned count[PACKED];            // four small counters to a word
    __shared__ int total[2];
    const int doc = blockIdx.x;
    if (doc >= docs) return;
    for (int i = threadIdx.x; i < PACKED; i += blockDim.x) count[i] = 0;
    if (threadIdx.x < 2) total[threadIdx.x] = 0;
    __syncthreads();

    const int* row = token + (size_t)doc * len;
    for (int i = threadIdx.x; i < len; i += blockDim.x) {
        const int t = row[i];
        atomicAdd(&count[t >> 2], 1u << (8 * (t & 3)));
    }
    __syncthreads();

    int single = 0, kinds = 0;
    for (int i = threadIdx.x; i < PACKED; i += blockDim.x) {
        const unsigned c = count[i];
        single += __popc(__vcmpeq4(c, 0x01010101u)) >> 3;
        kinds += 4 - (__popc(__vcmpeq4(c, 0u)) >> 3);
    }
    atomicAdd(&total[0], single);
    atomicAdd(&total[1], kinds);
    __syncthreads();
    if (threadIdx.x == 0) { once[doc] = total[0]; types[doc] = total[1]; }
}
