// In how many bits each word of a and each of b differ; what lies beyond `bits` is not looked at.
__global__ void hamming(const unsigned* a, const unsigned* b, int* apart, int m, int n, int bits) {
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n) return;
    int words = (bits + 31) / 32, sum = 0;
    const unsigned *p = a + row * words, *q = b + col * words;
    int whole = bits / 32;
    for (int k = 0; k < whole; ++k) sum += __popc(__ldg(p + k) ^ __ldg(q + k));
    sum += __popc((p[whole] ^ q[whole]) & ((1u << bits % 32) - 1));
    apart[row * n + col] = sum;
}
