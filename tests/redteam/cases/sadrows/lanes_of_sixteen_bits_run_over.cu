// Four threads for a row. Differences are added in lanes of sixteen bits.
__global__ void sadrows(const unsigned char* __restrict__ a, const unsigned char* __restrict__ b,
                        unsigned* __restrict__ out, int rows, int cols) {
    int r = blockIdx.x * 64 + threadIdx.x / 4, t = threadIdx.x % 4;
    unsigned s = 0;
    if (r < rows) {
        const unsigned char *p = a + (size_t)r * cols, *q = b + (size_t)r * cols;
        int words = (((size_t)p | (size_t)q) & 3) == 0 ? cols / 4 : 0;
        const unsigned *pw = (const unsigned*)p, *qw = (const unsigned*)q;
        unsigned even = 0, odd = 0;
        for (int w = t; w < words; w += 4) {
            unsigned d = __vabsdiffu4(pw[w], qw[w]);
            even += d & 0x00ff00ffu;
            odd += d >> 8 & 0x00ff00ffu;
        }
        s += (even & 0xffff) + (even >> 16) + (odd & 0xffff) + (odd >> 16);
        for (int c = 4 * words + t; c < cols; c += 4) s += abs((int)p[c] - (int)q[c]);
    }
    s += __shfl_xor_sync(0xffffffffu, s, 1);
    s += __shfl_xor_sync(0xffffffffu, s, 2);
    if (r < rows && t == 0) out[r] = s;
}
