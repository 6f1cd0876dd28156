// Absolute difference of long decimal numbers in one sweep, without comparing first.
// a - b is formed as it comes; if a borrow is left at the end the row holds the tens' complement of what is wanted
// and is complemented where it stands. Only rows with a < b are gone over twice.
#define LIMB 1000000000u

extern "C" __global__ void abacus(const unsigned* __restrict__ a, const unsigned* __restrict__ b,
                                  unsigned* d, int* __restrict__ sign, int n, int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const unsigned* x = a + (size_t)row * m;
    const unsigned* y = b + (size_t)row * m;
    unsigned* out = d + (size_t)row * m;

    int owed = 0;              // 0 or -1
    unsigned any = 0;
    for (int i = 0; i < m; i++) {
        int t = (int)x[i] - (int)y[i] + owed;
        owed = t >> 31;
        t += (int)LIMB & owed;
        any |= (unsigned)t;
        out[i] = (unsigned)t;
    }
    if (owed) {
        int i = 0;
        while (out[i] == 0) i++;             // the trailing zeros stay
        out[i] = LIMB - out[i];
        for (i++; i < m; i++) out[i] = LIMB - 1 - out[i];
    }
    sign[row] = owed ? -1 : (any != 0);
}
