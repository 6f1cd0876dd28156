// The match finder of a small LZ coder: four neighbouring positions per thread. Inside a long repeat the next
// position goes on with the offset of the one before.

extern "C" __global__ void lzmatch(const unsigned char* text, int* length, int* offset, int n, int window, int most)
{
    const int first = (blockIdx.x * 256 + threadIdx.x) * 4;
    int best = 0, at = 0;
    for (int i = first; i < min(first + 4, n); ++i) {
        const int limit = min(most, n - i);
        // still in the same repeat, and it is as long as a match may be
        const int kept = best >= limit ? at : 0;
        best = 0;
        at = 0;
        if (kept) {
            while (best < limit && text[i + best] == text[i - kept + best]) ++best;
            at = kept;
        }
        if (best < limit) {
            best = 0;
            for (int o = 1; o <= window && o <= i && best < limit; ++o) {
                int len = 0;
                while (len < limit && text[i + len] == text[i - o + len]) ++len;
                if (len > best) {
                    best = len;
                    at = o;
                }
            }
        }
        length[i] = best < 3 ? 0 : best;
        offset[i] = best < 3 ? 0 : at;
    }
}
