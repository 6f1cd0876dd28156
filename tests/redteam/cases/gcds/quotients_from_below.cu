// The greatest common divisor of each pair; that of a number and zero is the number.
// All roundings go down, so a quotient is never too large; where it is too small the division mends it.
__device__ unsigned rest_of(unsigned x, unsigned y) {
    unsigned q = __float2uint_rz(__fdiv_rz(__uint2float_rz(x), __uint2float_ru(y)));
    unsigned rest = x - q * y;
    if (rest >= y) {
        rest -= y;
        if (rest >= y) rest %= y;
    }
    return rest;
}

__global__ void gcds(const unsigned* a, const unsigned* b, unsigned* d, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = a[i], y = b[i];
    while (y) {
        unsigned rest = rest_of(x, y);
        x = y;
        y = rest;
    }
    d[i] = x;
}
