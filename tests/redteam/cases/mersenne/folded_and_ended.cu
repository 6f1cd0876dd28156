// 2^31 is 1 modulo the prime: the upper bits are added to the lower, and p itself is 0 at the end.
__global__ void mersenne(const unsigned* __restrict__ data, unsigned* __restrict__ out, int rows, int cols,
                         int point) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const unsigned long long p = 2147483647ull;
    unsigned long long h = 0, at = point < 0 ? point + p : (unsigned long long)point;
    if (point == -2147483647 - 1) at = p - 1;
    for (int c = 0; c < cols; ++c) {
        h = h * at + data[(size_t)r * cols + c];
        h = (h & p) + (h >> 31);
        h = (h & p) + (h >> 31);
    }
    h = (h & p) + (h >> 31);
    out[r] = h >= p ? (unsigned)(h - p) : (unsigned)h;
}
