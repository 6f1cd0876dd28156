// A polynomial of each row's numbers, modulo the prime 2^31 - 1.
__global__ void mersenne(const unsigned* data, unsigned* out, int rows, int cols, int point) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned long long p = 2147483647ull;
    long long b = point % (long long)p;
    unsigned long long h = 0, at = b < 0 ? b + p : b;
    for (int c = 0; c < cols; ++c) h = (h * at + data[(size_t)r * cols + c]) % p;
    out[r] = (unsigned)h;
}
