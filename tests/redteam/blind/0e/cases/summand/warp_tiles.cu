#include <cuda_runtime.h>

// A warp per row, 32 limbs at a time: the carries of a tile are the carries of
// adding its generate and propagate masks.
__global__ void summand(const unsigned* a, const unsigned* b, unsigned* sum,
                        unsigned* carry, int rows, int n)
{
    int row = blockIdx.x * 4 + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (row >= rows) return;

    const unsigned* ar = a + (size_t)row * n;
    const unsigned* br = b + (size_t)row * n;
    unsigned* sr = sum + (size_t)row * n;

    unsigned cin = 0;
    for (int base = 0; base < n; base += 32) {
        int i = base + lane;
        unsigned x = i < n ? ar[i] : 0u, y = i < n ? br[i] : 0u;
        unsigned s = x + y;
        unsigned g = __ballot_sync(0xffffffffu, s < x);
        unsigned p = __ballot_sync(0xffffffffu, s == 0xffffffffu);
        unsigned gp = g | p;
        // carries into each limb: (g|p) + g + cin ripples through runs of p
        unsigned t = gp + g + cin;
        unsigned into = t ^ gp ^ g;
        if (i < n) sr[i] = s + ((into >> lane) & 1u);
        int last = min(n - base, 32);
        if (last == 32) cin = (g >> 31) | ((p >> 31) & (into >> 30) & 1u);
        else            cin = (into >> last) & 1u;
    }
    if (lane == 0) carry[row] = cin;
}
