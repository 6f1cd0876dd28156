// A matrix of bits, turned: 32 columns to a word before, 32 rows to a word behind.
__global__ void flipbits(const unsigned* in, unsigned* out, int rows, int words) {
    int high = (rows + 31) / 32;
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= (size_t)words * 32 * high) return;
    int c = (int)(i / high), q = (int)(i % high);
    unsigned word = 0;
    for (int k = 0; k < 32 && q * 32 + k < rows; ++k)
        word |= (in[(size_t)(q * 32 + k) * words + c / 32] >> (c & 31) & 1u) << k;
    out[i] = word;
}
