// Absolute difference of long decimal numbers; the two numbers of a row are ordered on their leading digits, as one
// does by hand, instead of in a loop down the row with a branch in every step.
#define LIMB 1000000000u

__device__ __forceinline__ double head(const unsigned* v, int m)
{
    double h = 0.0;
    for (int k = 1; k <= 8; k++) h = h * 1e9 + (m >= k ? (double)v[m - k] : 0.0);   // 72 digits
    return h;
}

extern "C" __global__ void abacus(const unsigned* __restrict__ a, const unsigned* __restrict__ b,
                                  unsigned* __restrict__ d, int* __restrict__ sign, int n, int m)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    const unsigned* x = a + (size_t)row * m;
    const unsigned* y = b + (size_t)row * m;
    unsigned* out = d + (size_t)row * m;

    double hx = head(x, m), hy = head(y, m);
    int s = (hx > hy) - (hx < hy);
    if (s == 0)                                        // the heads agree: go on below them
        for (int i = m - 9; i >= 0 && s == 0; i--) s = (x[i] > y[i]) - (x[i] < y[i]);
    if (s < 0) { const unsigned* t = x; x = y; y = t; }

    unsigned borrow = 0;
    for (int i = 0; i < m; i++) {
        unsigned need = y[i] + borrow;
        borrow = x[i] < need;
        out[i] = borrow ? x[i] + LIMB - need : x[i] - need;
    }
    sign[row] = s;
}
