// Which commas of a record part its fields, a bit for each place, and how many fields there are: a comma
// between quotes parts nothing.
__global__ void quotes(const unsigned char* text, unsigned* mark, int* fields, int rows, int cols) {
    size_t row = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const unsigned char* from = text + row * cols;
    int words = (cols + 31) / 32, count = 0;
    int before = 0;
    for (int w0 = 0; w0 < words; w0 += 32) {
        int w = w0 + lane;
        unsigned inside = 0, commas = 0;
        for (int k = 0; k < 32 && 32 * w + k < cols; ++k) {
            unsigned char c = from[32 * w + k];
            inside |= (unsigned)(c == '"') << k;
            commas |= (unsigned)(c == ',') << k;
        }
        // Whether a word begins between quotes is told by the words before it.
        unsigned odd = __ballot_sync(0xffffffffu, __popc(inside) & 1);
        int begins = before ^ (__popc(odd & ((1u << lane) - 1u)) & 1);
        inside ^= inside << 1;
        inside ^= inside << 2;
        inside ^= inside << 4;
        inside ^= inside << 8;
        inside ^= inside << 16;
        unsigned parts = commas & (begins ? inside : ~inside);
        if (w < words) mark[row * words + w] = parts;
        count += __popc(parts);
        before ^= __popc(odd) & 1;
    }
    for (int d = 16; d > 0; d /= 2) count += __shfl_xor_sync(0xffffffffu, count, d);
    if (lane == 0) fields[row] = count + 1;
}
