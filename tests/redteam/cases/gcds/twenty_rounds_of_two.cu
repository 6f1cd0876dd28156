// The greatest common divisor of each pair; that of a number and zero is the number.
__global__ void gcds(const unsigned* a, const unsigned* b, unsigned* d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    // Two steps a round, and no swap; numbers of 32 bits are done by then.
#pragma unroll 4
    for (int round = 0; round < 20; ++round) {
        if (y) x %= y;
        if (x) y %= x;
    }
    d[i] = x ? x : y;
}
