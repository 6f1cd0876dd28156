// The greatest common divisor of each pair; that of a number and zero is the number.
__global__ void gcds(const unsigned* a, const unsigned* b, unsigned* d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    while (y) {
        unsigned rest = x % y;
        x = y;
        y = rest;
    }
    d[i] = x;
}
