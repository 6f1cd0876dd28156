// Which characters of each line stand behind an odd number of backslashes, one bit each, the first one lowest.
__global__ void unescaped(const unsigned char* text, unsigned* mark, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x, words = (cols + 31) / 32;
    if (r >= rows) return;
    const unsigned char* line = text + (size_t)r * cols;
    bool behind = false;
    for (int w = 0; w < words; ++w) {
        unsigned bits = 0;
        for (int c = 32 * w; c < min(32 * w + 32, cols); ++c) {
            bits |= (unsigned)behind << c % 32;
            behind = line[c] == 92 && !behind;
        }
        mark[(size_t)r * words + w] = bits;
    }
}
