// Hapax legomena: for every document of a corpus, how many word types occur
// exactly once, and how many types occur at all.  A fixed grid walks over the documents;
// thread i looks after word i of the bitmaps, counts it and wipes it for the next document.
#define VOCAB 8192
#define WORDS (VOCAB / 32)

extern "C" __global__ void __launch_bounds__(WORDS) hapax(const int* token, int* once, int* types, int docs, int len)
{
    __shared__ unsigned seen[WORDS], again[WORDS];
    __shared__ unsigned part[WORDS / 32];
    const int me = threadIdx.x;
    seen[me] = 0;
    again[me] = 0;
    __syncthreads();

    for (int doc = blockIdx.x; doc < docs; doc += gridDim.x) {
        const int* row = token + (size_t)doc * len;
        for (int i = me; i < len; i += WORDS) {
            const int t = row[i];
            const unsigned bit = 1u << (t & 31);
            if (atomicOr(&seen[t >> 5], bit) & bit) atomicOr(&again[t >> 5], bit);
        }
        __syncthreads();

        const unsigned s = seen[me], a = again[me];
        seen[me] = 0;
        again[me] = 0;
        const unsigned both = __reduce_add_sync(0xffffffffu, (unsigned)__popc(s & ~a) | ((unsigned)__popc(s) << 16));
        if ((me & 31) == 0) part[me >> 5] = both;
        __syncthreads();
        if (me == 0) {
            unsigned sum = 0;
            for (int k = 0; k < WORDS / 32; ++k) sum += part[k];
            once[doc] = sum & 0xffff;
            types[doc] = sum >> 16;
        }
    }
}
