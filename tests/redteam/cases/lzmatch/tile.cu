// The match finder of a small LZ coder, on a tile of the text in shared memory.

extern "C" __global__ void lzmatch(const unsigned char* text, int* length, int* offset, int n, int window, int most)
{
    extern __shared__ unsigned char tile[];
    const int first = blockIdx.x * 256;
    const int from = max(first - window, 0), to = min(first + 256 + most, n);
    for (int j = from + threadIdx.x; j < to; j += 256) tile[j - from] = text[j];
    __syncthreads();
    const int i = first + threadIdx.x;
    if (i >= n) return;
    const unsigned char* here = tile + (i - from);
    const int limit = min(most, n - i);
    const int reach = min(window, i);
    int best = 0, at = 0;
    for (int o = 1; o <= reach && best < limit; ++o) {
        int len = 0;
        while (len < limit && here[len] == here[len - o]) ++len;
        if (len > best) {
            best = len;
            at = o;
        }
    }
    length[i] = best < 3 ? 0 : best;
    offset[i] = best < 3 ? 0 : at;
}
