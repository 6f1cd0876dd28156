// How often each word of six letters is in a genome; letters are 0 to 3, and 4 is none of them. Each block
// counts for itself first.
__global__ void kmers(const unsigned char* base, unsigned* count, int n) {
    __shared__ unsigned own[4096];
    for (int k = threadIdx.x; k < 4096; k += blockDim.x) own[k] = 0u;
    __syncthreads();
    int each = (n + gridDim.x - 1) / gridDim.x, first = blockIdx.x * each, end = min(first + each, n - 5);
    for (int i = first + threadIdx.x; i < end; i += blockDim.x) {
        unsigned word = 0u, bad = 0u;
#pragma unroll
        for (int k = 0; k < 6; ++k) {
            unsigned v = base[i + k];
            bad |= v > 3;
            word = word << 2 | (v & 3);
        }
        if (!bad) atomicAdd(&own[word], 1u);
    }
    __syncthreads();
    for (int k = threadIdx.x; k < 4096; k += blockDim.x)
        if (own[k]) count[k] += own[k];
}
