// The greatest common divisor of each pair; that of a number and zero is the number.
__device__ unsigned common(unsigned x, unsigned y) {
    int twos = __clz(__brev(x | y));
    x >>= __clz(__brev(x));
    while (x && y) {
        y >>= __clz(__brev(y));
        unsigned less = min(x, y);
        y = max(x, y) - less;
        x = less;
    }
    return x << twos;
}

__global__ void gcds(const unsigned* a, const unsigned* b, unsigned* d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) d[i] = common(a[i], b[i]);
}
