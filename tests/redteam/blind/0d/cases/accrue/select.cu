// Carry select: a lane adds its own run of 4 limbs for carry 0; then the carries between the lanes are settled.

__global__ void accrue(const unsigned* left, const unsigned* right, unsigned* total, int* over, int rows, int limbs)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows) return;
    long long at = (long long)row * limbs;
    unsigned carry = 0;
    for (int base = 0; base < limbs; base += 128) {
        unsigned s[4], out = 0;
        int first = base + 4 * lane;
        for (int k = 0; k < 4; ++k) {
            int i = first + k;
            unsigned long long t = (i < limbs ? (unsigned long long)left[at + i] + right[at + i] : 0ull) + out;
            s[k] = (unsigned)t;
            out = (unsigned)(t >> 32);
        }
        unsigned in = __shfl_up_sync(0xffffffffu, out, 1);
        if (lane == 0) in = carry;
        for (int k = 0; k < 4; ++k) {
            s[k] += in;
            in = in && s[k] == 0;
        }
        out |= in;                                   // the run was all ones
        for (int k = 0; k < 4; ++k)
            if (first + k < limbs) total[at + first + k] = s[k];
        // carry for the next 128, or out of the number: limbs beyond the end are 0 and take it up
        unsigned last = limbs - base >= 128 ? __shfl_sync(0xffffffffu, out, 31) : 0u;
        int rest = limbs - base;
        if (rest < 128) {
            int lane_of = rest >> 2, k = rest & 3;
            unsigned held = k == 0 ? s[0] : k == 1 ? s[1] : k == 2 ? s[2] : s[3];
            last = __shfl_sync(0xffffffffu, held, lane_of);
        }
        carry = last;
    }
    if (lane == 0) over[row] = (int)carry;
}
