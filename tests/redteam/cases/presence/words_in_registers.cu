// Which of the 256 bytes occur in each row, a bit for each.
__global__ void presence(const unsigned char* in, unsigned* out, int rows, int len) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const unsigned char* row = in + (size_t)r * len;
    unsigned word[8] = {};
    for (int k = lane; k < len; k += 32) {
        int v = row[k];
#pragma unroll
        for (int w = 0; w < 8; ++w) word[w] |= (unsigned)(v / 32 == w) << (v % 32);
    }
    unsigned mine = 0;
#pragma unroll
    for (int w = 0; w < 8; ++w) {
        unsigned all = __reduce_or_sync(~0u, word[w]);
        if (lane == w) mine = all;
    }
    if (lane < 8) out[(size_t)r * 8 + lane] = mine;
}
