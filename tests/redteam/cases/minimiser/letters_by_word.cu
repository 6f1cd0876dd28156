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
    // three or four aligned words hold any k-mer of nine letters
    const unsigned* from = reinterpret_cast<const unsigned*>((unsigned long long)letter & ~3ull);
    const unsigned skew = 8u * (unsigned)((unsigned long long)letter & 3ull);
    const unsigned a = from[0], c = from[1], d = from[2], f = from[3];
    const unsigned part[3] = {__funnelshift_r(a, c, skew), __funnelshift_r(c, d, skew), __funnelshift_r(d, f, skew)};
    unsigned word = 0;
    bool known = true;
#pragma unroll
    for (int e = 0; e < 9; ++e) {
        const unsigned l = (part[e >> 2] >> (8 * (e & 3))) & 0xffu;
        known = known && l < 4;
        word = (word << 2) | (l & 3u);
    }
    return known ? scramble(word) : 0xffffffffu;
}

extern "C" __global__ void minimiser(const unsigned char* letter, unsigned* smallest, int* place, int n, int k, int w)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
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
