// Absolute difference of long decimal numbers; one warp per row.
// The borrows of 32 limbs are found at once: the mask of the limbs that create a borrow and the mask of those that
// pass one on are added as 32-bit integers, and the adder of the machine ripples the borrows.
#define LIMB 1000000000u

extern "C" __global__ void abacus(const unsigned* __restrict__ a, const unsigned* __restrict__ b,
                                  unsigned* __restrict__ d, int* __restrict__ sign, int n, int m)
{
    const unsigned ALL = 0xffffffffu;
    int lane = threadIdx.x & 31;
    int row = (int)(((size_t)blockIdx.x * blockDim.x + threadIdx.x) >> 5);
    if (row >= n) return;
    const unsigned* x = a + (size_t)row * m;
    const unsigned* y = b + (size_t)row * m;
    unsigned* out = d + (size_t)row * m;

    // from the top: the highest limb that differs decides
    int s = 0;
    for (int first = ((m - 1) / 32) * 32; first >= 0; first -= 32) {
        int i = first + lane;
        unsigned p = i < m ? x[i] : 0u, q = i < m ? y[i] : 0u;
        unsigned above = __ballot_sync(ALL, p > q);
        unsigned below = __ballot_sync(ALL, p < q);
        if (above != below) { s = above > below ? 1 : -1; break; }
    }
    if (s < 0) { const unsigned* t = x; x = y; y = t; }

    unsigned in = 0;
    for (int first = 0; first < m; first += 32) {
        int i = first + lane;
        unsigned p = i < m ? x[i] : 1u, q = i < m ? y[i] : 0u;
        unsigned makes = __ballot_sync(ALL, p < q);
        unsigned passes = __ballot_sync(ALL, p == q);
        unsigned into = (passes + ((makes << 1) | in)) ^ passes;
        unsigned need = q + ((into >> lane) & 1);
        if (i < m) out[i] = p < need ? p + LIMB - need : p - need;
        in = makes >> 31;                  // what the top limb asks of the next group
    }
    if (lane == 0) sign[row] = s;
}
