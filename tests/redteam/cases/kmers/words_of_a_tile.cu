// How often each word of six letters is in a genome; letters are 0 to 3, and 4 is none of them. A tile of
// 1024 letters and five more lies in shared memory.
__global__ void kmers(const unsigned char* base, unsigned* count, int n) {
    __shared__ unsigned char letter[1032];
    int first = blockIdx.x * 1024, t = threadIdx.x;
    for (int k = t; k < 1029; k += 256) letter[k] = first + k < n ? base[first + k] : 4;
    __syncthreads();
    // Four words a thread, the next one made of the one before.
    unsigned word = 0u;
    int good = 0;
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        unsigned v = letter[4 * t + k];
        good = v > 3 ? 0 : good + 1;
        word = (word << 2 | (v & 3)) & 4095u;
        if (k >= 5 && good >= 6) atomicAdd(&count[word], 1u);
    }
}
