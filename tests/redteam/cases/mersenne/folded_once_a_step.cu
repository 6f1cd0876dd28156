// One fold a step keeps the products within 64 bits; the division is left to the end.
__global__ void mersenne(const unsigned* __restrict__ data, unsigned* __restrict__ out, int rows, int cols,
                         int point) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned long long p = 2147483647ull;
    long long b = point % (long long)p;
    unsigned long long h = 0, at = b < 0 ? b + p : b;
    for (int c = 0; c < cols; ++c) {
        h = h * at + data[(size_t)r * cols + c];
        h = (h & p) + (h >> 31);
    }
    out[r] = (unsigned)(h % p);
}
