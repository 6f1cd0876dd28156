// How often each word of six letters is in a genome; letters are 0 to 3, and 4 is none of them. Each block
// counts 1024 words for itself, four counts to a word of memory.
__global__ void kmers(const unsigned char* base, unsigned* count, int n) {
    __shared__ unsigned own[1024];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x) own[k] = 0u;
    __syncthreads();
    int first = blockIdx.x * 1024, end = min(first + 1024, n - 5);
    for (int i = first + threadIdx.x; i < end; i += blockDim.x) {
        unsigned word = 0u, bad = 0u;
#pragma unroll
        for (int k = 0; k < 6; ++k) {
            unsigned v = base[i + k];
            bad |= v > 3;
            word = word << 2 | (v & 3);
        }
        if (!bad) atomicAdd(&own[word / 4], 1u << 8 * (word % 4));
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 4096; k += blockDim.x)
        if (unsigned c = own[k / 4] >> 8 * (k % 4) & 255u) atomicAdd(&count[k], c);
}
