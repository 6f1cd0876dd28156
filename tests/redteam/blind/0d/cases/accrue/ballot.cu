// Warp a row: 32 limbs at a time, all carries of them by one addition of the ballots of "generates" and "propagates".

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
        unsigned gen = __ballot_sync(0xffffffffu, s < a);
        unsigned pro = __ballot_sync(0xffffffffu, s == 0xffffffffu);
        // adding (gen<<1 | carry) to pro ripples through the ones of pro
        unsigned in = ((gen << 1) | carry) + pro ^ pro;
        s += (in >> lane) & 1;
        if (i < limbs) total[at + i] = s;
        if (base + 32 < limbs) carry = gen >> 31;
        else {
            int top = limbs - base - 1;
            carry = (gen >> top) & 1 | ((pro & in) >> top) & 1;
        }
    }
    if (lane == 0) over[row] = (int)carry;
}
