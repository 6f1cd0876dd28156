// Absolute difference of long decimal numbers; one warp per row, borrows by a parallel prefix
// over (makes a borrow, passes a borrow on) pairs.
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
        // bit 1: makes, bit 0: passes; the borrow that comes in is made by lane 0
        unsigned makes = p < q, passes = p == q;
        if (lane == 0) { makes |= passes & in; passes = 0; }
#pragma unroll
        for (int step = 1; step < 16; step <<= 1) {
            unsigned both = __shfl_up_sync(ALL, makes * 2 + passes, step);
            if (lane >= step) {
                makes |= passes & (both >> 1);
                passes &= both & 1;
            }
        }
        unsigned into = __shfl_up_sync(ALL, makes, 1);
        if (lane == 0) into = in;
        unsigned need = q + into;
        if (i < m) out[i] = p < need ? p + LIMB - need : p - need;
        in = __shfl_sync(ALL, makes, 31);
    }
    if (lane == 0) sign[row] = s;
}
