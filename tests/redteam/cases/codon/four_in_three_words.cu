__constant__ unsigned char names[64] = {
    'F', 'F', 'L', 'L', 'S', 'S', 'S', 'S', 'Y', 'Y', '*', '*', 'C', 'C', '*', 'W',
    'L', 'L', 'L', 'L', 'P', 'P', 'P', 'P', 'H', 'H', 'Q', 'Q', 'R', 'R', 'R', 'R',
    'I', 'I', 'I', 'M', 'T', 'T', 'T', 'T', 'N', 'N', 'K', 'K', 'S', 'S', 'R', 'R',
    'V', 'V', 'V', 'V', 'A', 'A', 'A', 'A', 'D', 'D', 'E', 'E', 'G', 'G', 'G', 'G'};


__device__ unsigned named(const unsigned char* name, unsigned a, unsigned b, unsigned c) {
    return (a | b | c) < 4 ? name[a << 4 | b << 2 | c] : 'X';
}

// The acid that each word of three letters stands for. Letters are 0 to 3 (T, C, A, G); any other is unknown, and so is its word.
// Four words are three words of memory, where both begin at a multiple of four bytes.
__global__ void codon(const unsigned char* letter, unsigned char* acid, int n) {
    __shared__ unsigned char name[64];
    if (threadIdx.x < 64) name[threadIdx.x] = names[threadIdx.x];
    __syncthreads();
    bool whole = ((size_t)letter | (size_t)acid) % 4 == 0;
    size_t i = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 4;
    if (whole && i + 4 <= n) {
        const unsigned* p = (const unsigned*)(letter + 3 * i);
        unsigned u = p[0], v = p[1], w = p[2];
        unsigned first = named(name, u & 255, u >> 8 & 255, u >> 16 & 255);
        unsigned second = named(name, u >> 24, v & 255, v >> 8 & 255);
        unsigned third = named(name, v >> 16 & 255, v >> 24, w & 255);
        unsigned fourth = named(name, w >> 8 & 255, w >> 16 & 255, w >> 24);
        *(unsigned*)(acid + i) = first | second << 8 | third << 16 | fourth << 24;
    } else {
        for (int k = 0; k < 4 && i + k < n; ++k, letter += 3)
            acid[i + k] = named(name, letter[3 * i], letter[3 * i + 1], letter[3 * i + 2]);
    }
}
