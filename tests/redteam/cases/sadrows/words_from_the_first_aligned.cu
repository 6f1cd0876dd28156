// A warp for a row. Both rows are read in words where they lie alike within one; the bytes before
// and behind are read singly.
__global__ void sadrows(const unsigned char* __restrict__ a, const unsigned char* __restrict__ b,
                        unsigned* __restrict__ out, int rows, int cols) {
    int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const unsigned char *p = a + (size_t)r * cols, *q = b + (size_t)r * cols;
    int head = cols, words = 0;
    if ((((size_t)p ^ (size_t)q) & 3) == 0) {
        head = min(cols, (int)(-(size_t)p & 3));
        words = (cols - head) / 4;
    }
    unsigned s = 0;
    const unsigned *pw = (const unsigned*)(p + head), *qw = (const unsigned*)(q + head);
    for (int w = lane; w < words; w += 32) s += __vsadu4(pw[w], qw[w]);
    for (int c = lane; c < head; c += 32) s += abs((int)p[c] - (int)q[c]);
    for (int c = head + 4 * words + lane; c < cols; c += 32) s += abs((int)p[c] - (int)q[c]);
    s = __reduce_add_sync(0xffffffffu, s);
    if (lane == 0) out[r] = s;
}
