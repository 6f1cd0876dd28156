// The greatest common divisor of each pair; that of a number and zero is the number.
__device__ unsigned common(unsigned x, unsigned y) {
    if (x == 0 || y == 0) return x | y;
    int twos = __ffs(x | y) - 1;
    x >>= __ffs(x) - 1;
    do {
        y >>= __ffs(y) - 1;
        unsigned less = min(x, y);
        y = max(x, y) - less;
        x = less;
    } while (y);
    return x << twos;
}

__global__ void gcds(const unsigned* a, const unsigned* b, unsigned* d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d[i] = common(a[i], b[i]);
}
