// A warp per channel. Two ballots give the decisive samples of 32; the state at a lane is that of the last decisive
// one at or before it. Lanes past the end are given the centre, which is inside the band.
extern "C" __global__ void hysteresis(const float* x, const float* centre, const float* width,
                                      unsigned char* state, int* flips, int n, int m)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= n) return;
    float mid = centre[row], half = width[row];
    float hi = mid + half, lo = mid - half;
    float filler = mid;
    const float* in = x + (size_t)row * m;
    unsigned char* out = state + (size_t)row * m;
    unsigned upto = 0xffffffffu >> (31 - lane);
    unsigned carry = 0;
    int changes = 0;
    for (int base = 0; base < m; base += 32) {
        int i = base + lane;
        float v = i < m ? in[i] : filler;
        unsigned up = __ballot_sync(0xffffffffu, v > hi);
        unsigned down = __ballot_sync(0xffffffffu, v < lo);
        unsigned decisive = (up | down) & upto;
        unsigned on = decisive ? (up >> (31 - __clz(decisive))) & 1u : carry;
        unsigned word = __ballot_sync(0xffffffffu, on);
        changes += __popc(word ^ ((word << 1) | carry));
        carry = word >> 31;
        if (i < m) out[i] = (unsigned char)on;
    }
    if (lane == 0) flips[row] = changes;
}
