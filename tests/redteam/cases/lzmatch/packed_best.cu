// The match finder of a small LZ coder: for every position the longest earlier match within the window (it may run
// into itself), at most `most` symbols long, the nearest of several equally long ones. Matches below three symbols
// do not pay and are given as 0, 0. Symbols are 0..7.

extern "C" __global__ void lzmatch(const unsigned char* text, int* length, int* offset, int n, int window, int most)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    const int limit = min(most, n - i);
    unsigned key = 0;  // longest first, then nearest
    for (int o = 1; o <= window && o <= i; ++o) {
        int len = 0;
        while (len < limit && text[i + len] == text[i - o + len]) ++len;
        key = max(key, ((unsigned)len << 8) + (255u - o));
        if (len == limit) break;
    }
    const int best = key >> 8, at = 255 - (int)(key & 255u);
    length[i] = best < 3 ? 0 : best;
    offset[i] = best < 3 ? 0 : at;
}
