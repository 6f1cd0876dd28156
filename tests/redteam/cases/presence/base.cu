// Which of the 256 bytes occur in each row, a bit for each.
__global__ void presence(const unsigned char* in, unsigned* out, int rows, int len) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * 8) return;
    const unsigned char* row = in + (size_t)(i / 8) * len;
    unsigned word = 0;
    for (int k = 0; k < len; ++k)
        if (row[k] / 32 == i % 8) word |= 1u << (row[k] % 32);
    out[i] = word;
}
