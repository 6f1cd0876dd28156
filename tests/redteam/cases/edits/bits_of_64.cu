// How many edits make one word of the other, for many pairs of words: by diagonals, three of which
// are held.
__global__ void edits(const unsigned char* a, const unsigned char* b, int* apart, int la, int lb) {
    const unsigned char *s = a + (size_t)blockIdx.x * la, *t = b + (size_t)blockIdx.x * lb;
    if (threadIdx.x >= 32) return;
    // Column by column, the differences between neighbours as bits.
    int lane = threadIdx.x;
    int low = lane < la ? s[lane] : -1, high = lane + 32 < la ? s[lane + 32] : -1;
    unsigned long long up = ~0ull, less = 0ull, top = 1ull << (la - 1);
    int v = la;
    for (int j = 0; j < lb; ++j) {
        int c = t[j];
        unsigned long long same = __ballot_sync(0xffffffffu, low == c) |
                                  (unsigned long long)__ballot_sync(0xffffffffu, high == c) << 32;
        unsigned long long x = same | less, h = (((same & up) + up) ^ up) | same;
        unsigned long long more = less | ~(h | up), fewer = up & h;
        v += (more & top) != 0;
        v -= (fewer & top) != 0;
        more = more << 1 | 1ull;
        fewer <<= 1;
        up = fewer | ~(x | more);
        less = more & x;
    }
    if (lane == 0) apart[blockIdx.x] = v;
}
