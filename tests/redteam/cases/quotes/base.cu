// Which commas of a record part its fields, a bit for each place, and how many fields there are: a comma
// between quotes parts nothing.
__global__ void quotes(const unsigned char* text, unsigned* mark, int* fields, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int words = (cols + 31) / 32, count = 1;
    bool inside = false;
    for (int w = 0; w < words; ++w) {
        unsigned bits = 0;
        for (int k = 0; k < 32 && 32 * w + k < cols; ++k) {
            unsigned char c = text[(size_t)row * cols + 32 * w + k];
            if (c == '"') inside = !inside;
            if (c == ',' && !inside) bits |= 1u << k, ++count;
        }
        mark[(size_t)row * words + w] = bits;
    }
    fields[row] = count;
}
