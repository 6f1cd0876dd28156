// Absolute difference of long decimal numbers, n pairs of m limbs each.
// A limb holds nine decimal digits (0 .. 999999999); limb 0 of a row is the least significant one.
// sign[row] is 1, 0 or -1 as a is greater than, equal to or less than b.
#define LIMB 1000000000u

extern "C" __global__ void abacus(const unsigned* __restrict__ a, const unsigned* __restrict__ b,
                                  unsigned* __restrict__ d, int* __restrict__ sign, int n, int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const unsigned* x = a + (size_t)row * m;
    const unsigned* y = b + (size_t)row * m;
    unsigned* out = d + (size_t)row * m;

    int s = 0;
    for (int i = m - 1; i >= 0 && s == 0; i--) s = (x[i] > y[i]) - (x[i] < y[i]);
    if (s < 0) { const unsigned* t = x; x = y; y = t; }

    unsigned borrow = 0;
    for (int i = 0; i < m; i++) {
        unsigned need = y[i] + borrow;
        borrow = x[i] < need;
        out[i] = borrow ? x[i] + LIMB - need : x[i] - need;
    }
    sign[row] = s;
}
