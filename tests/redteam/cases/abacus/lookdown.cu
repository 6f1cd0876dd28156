// Absolute difference of long decimal numbers; one block per row, one thread per limb.
// Whether a limb is borrowed from depends on one limb only: the nearest lower one in which the numbers differ.
// Limbs nearly always differ, so looking for it is a single step, and nothing is carried along the row.
#define LIMB 1000000000u

extern "C" __global__ void abacus(const unsigned* __restrict__ a, const unsigned* __restrict__ b,
                                  unsigned* __restrict__ d, int* __restrict__ sign, int n, int m)
{
    int row = blockIdx.x;
    const unsigned* x = a + (size_t)row * m;
    const unsigned* y = b + (size_t)row * m;
    unsigned* out = d + (size_t)row * m;

    // every thread finds the order for itself; the loads are broadcasts
    int top = m - 1;
    while (top > 0 && x[top] == y[top]) top--;
    int s = (x[top] > y[top]) - (x[top] < y[top]);
    if (s < 0) { const unsigned* t = x; x = y; y = t; }

    for (int i = threadIdx.x; i < m; i += blockDim.x) {
        int j = i - 1;
        while (j >= 0 && x[j] == y[j]) j--;
        unsigned p = x[i], need = y[i] + (j >= 0 && x[j] < y[j] ? 1u : 0u);
        out[i] = p < need ? p + LIMB - need : p - need;
    }
    if (threadIdx.x == 0) sign[row] = s;
}
