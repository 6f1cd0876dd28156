// Which commas of a record part its fields, a bit for each place, and how many fields there are: a comma
// between quotes parts nothing.
__global__ void quotes(const unsigned char* text, unsigned* mark, int* fields, int rows, int cols) {
    size_t row = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const unsigned char* from = text + row * cols;
    int words = (cols + 31) / 32, count = 1;
    unsigned before = 0;
    for (int w = 0; w < words; ++w) {
        int at = 32 * w + lane;
        unsigned char c = at < cols ? from[at] : 0;
        unsigned inside = __ballot_sync(0xffffffffu, c == '"'), commas = __ballot_sync(0xffffffffu, c == ',');
        // Each place becomes the parity of the quotes up to it.
        inside ^= inside << 1;
        inside ^= inside << 2;
        inside ^= inside << 4;
        inside ^= inside << 8;
        inside ^= inside << 16;
        inside ^= before;
        before = (unsigned)((int)inside >> 31);
        unsigned parts = commas & ~inside;
        count += __popc(parts);
        if (lane == 0 && commas) mark[row * words + w] = parts;
    }
    if (lane == 0) fields[row] = count;
}
