// Warp a row: parallel prefix (generate, propagate) over 32 limbs by shuffles, the carry between groups is kept.

__global__ void accrue(const unsigned* left, const unsigned* right, unsigned* total, int* over, int rows, int limbs)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows) return;
    long long at = (long long)row * limbs;
    unsigned carry = 0;
    for (int base = 0; base < limbs; base += 32) {
        int i = base + lane;
        unsigned a = i < limbs ? left[at + i] : 0u, b = i < limbs ? right[at + i] : 0u;
        unsigned s = a + b;
        unsigned g = s < a, p = s == 0xffffffffu;
        for (int d = 1; d < 16; d <<= 1) {
            unsigned g2 = __shfl_up_sync(0xffffffffu, g, d), p2 = __shfl_up_sync(0xffffffffu, p, d);
            if (lane >= d) {
                g |= p & g2;
                p &= p2;
            }
        }
        unsigned out = g | (p & carry);
        unsigned in = __shfl_up_sync(0xffffffffu, out, 1);
        if (lane == 0) in = carry;
        if (i < limbs) total[at + i] = s + in;
        int top = limbs - base > 32 ? 31 : limbs - base - 1;
        carry = __shfl_sync(0xffffffffu, out, top);
    }
    if (lane == 0) over[row] = (int)carry;
}
