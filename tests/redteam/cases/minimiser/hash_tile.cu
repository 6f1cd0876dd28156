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

extern "C" __global__ void minimiser(const unsigned char* letter, unsigned* smallest, int* place, int n, int k, int w)
{
    extern __shared__ unsigned tile[];
    const int first = blockIdx.x * 256;
    const int count = min(256, n - first) + w - 1;  // k-mers that the windows of this block reach
    for (int e = threadIdx.x; e < count; e += 256) tile[e] = kmer_hash(letter + first + e, k);
    __syncthreads();
    const int i = first + threadIdx.x;
    if (i >= n) return;
    unsigned best = 0xffffffffu;
    int where = -1;
    for (int e = 0; e < w; ++e) {
        const unsigned h = tile[threadIdx.x + e];
        if (h < best) {
            best = h;
            where = i + e;
        }
    }
    smallest[i] = best;
    place[i] = where;
}
