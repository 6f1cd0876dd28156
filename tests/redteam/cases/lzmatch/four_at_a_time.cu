// The match finder of a small LZ coder: for every position the longest earlier match within the window (it may run
// into itself), at most `most` symbols long, the nearest of several equally long ones. Matches below three symbols
// do not pay and are given as 0, 0. Symbols are 0..7.

// four symbols from any place; the aligned words around them end at most eight bytes on
__device__ __forceinline__ unsigned four(const unsigned char* p)
{
    const unsigned long long a = reinterpret_cast<unsigned long long>(p);
    const unsigned* w = reinterpret_cast<const unsigned*>(a & ~3ull);
    return __funnelshift_r(w[0], w[1], 8u * (unsigned)(a & 3ull));
}

extern "C" __global__ void lzmatch(const unsigned char* text, int* length, int* offset, int n, int window, int most)
{
    const int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    const int limit = min(most, n - i);
    int best = 0, at = 0;
    for (int o = 1; o <= window && o <= i && best < limit; ++o) {
        int len = 0;
        while (len + 4 <= limit && i + len + 8 <= n) {
            const unsigned differ = four(text + i + len) ^ four(text + i - o + len);
            if (differ) break;
            len += 4;
        }
        while (len < limit && text[i + len] == text[i - o + len]) ++len;
        if (len > best) {
            best = len;
            at = o;
        }
    }
    length[i] = best < 3 ? 0 : best;
    offset[i] = best < 3 ? 0 : at;
}
