// How often each word of six letters is in a genome; letters are 0 to 3, and 4 is none of them.
__global__ void kmers(const unsigned char* base, unsigned* count, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + 6 > n) return;
    unsigned word = 0u;
    for (int k = 0; k < 6; ++k) {
        if (base[i + k] > 3) return;
        word = word << 2 | base[i + k];
    }
    atomicAdd(&count[word], 1u);
}
