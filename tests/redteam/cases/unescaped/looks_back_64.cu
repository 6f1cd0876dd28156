// Which characters of each line stand behind an odd number of backslashes, one bit each, the first one lowest.
// A warp takes a word: each lane looks back for itself until there is something else.
__global__ void unescaped(const unsigned char* text, unsigned* mark, int rows, int cols) {
    int words = (cols + 31) / 32, lane = threadIdx.x % 32;
    size_t all = (size_t)rows * words, step = (size_t)gridDim.x * 8;
    for (size_t at = blockIdx.x * (size_t)8 + threadIdx.x / 32; at < all; at += step) {
        const unsigned char* line = text + at / words * cols;
        int c = (int)(at % words) * 32 + lane, run = 0;
        if (c < cols)
            while (run < min(c, 64) && line[c - 1 - run] == 92) ++run;
        unsigned bits = __ballot_sync(0xffffffffu, run & 1);
        if (lane == 0) mark[at] = bits;
    }
}
