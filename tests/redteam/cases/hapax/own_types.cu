// Hapax legomena: for every document of a corpus, how many word types occur
// exactly once, and how many types occur at all.  One block per document,
// with a small hash table of the document's own types instead of bitmaps over the vocabulary.
#define VOCAB 8192
#define SLOTS 2048

extern "C" __global__ void hapax(const int* token, int* once, int* types, int docs, int len)
{
    __shared__ int key[SLOTS], count[SLOTS];
    __shared__ int total[2];
    const int doc = blockIdx.x;
    if (doc >= docs) return;
    for (int i = threadIdx.x; i < SLOTS; i += blockDim.x) { key[i] = -1; count[i] = 0; }
    if (threadIdx.x < 2) total[threadIdx.x] = 0;
    __syncthreads();

    const int* row = token + (size_t)doc * len;
    for (int i = threadIdx.x; i < len; i += blockDim.x) {
        const int t = row[i];
        unsigned slot = ((unsigned)t * 2654435761u) >> 21;
        for (int probe = 0; probe < SLOTS; ++probe) {
            const int owner = atomicCAS(&key[slot], -1, t);
            if (owner == -1 || owner == t) { atomicAdd(&count[slot], 1); break; }
            slot = (slot + 1) & (SLOTS - 1);
        }
    }
    __syncthreads();

    int single = 0, kinds = 0;
    for (int i = threadIdx.x; i < SLOTS; i += blockDim.x) {
        single += count[i] == 1;
        kinds += count[i] > 0;
    }
    atomicAdd(&total[0], single);
    atomicAdd(&total[1], kinds);
    __syncthreads();
    if (threadIdx.x == 0) { once[doc] = total[0]; types[doc] = total[1]; }
}
