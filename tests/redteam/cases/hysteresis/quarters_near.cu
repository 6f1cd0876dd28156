// A block of four warps per channel, a quarter of the samples each. The state at the begin of a quarter comes from
// looking back, 32 samples at a time, for the last decisive sample before it (sixteen steps at most).
extern "C" __global__ void hysteresis(const float* x, const float* centre, const float* width,
                                      unsigned char* state, int* flips, int n, int m)
{
    __shared__ int part[4];
    int row = blockIdx.x, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float hi = centre[row] + width[row], lo = centre[row] - width[row];
    const float* in = x + (size_t)row * m;
    unsigned char* out = state + (size_t)row * m;
    unsigned upto = 0xffffffffu >> (31 - lane);
    int length = (m + 3) / 4;
    int from = min(m, warp * length), to = min(m, from + length);
    unsigned carry = 0;
    int earliest = max(0, from - 512);
    for (int end = from; end > earliest; end -= 32) {
        int i = end - 32 + lane;
        float v = i >= 0 ? in[i] : __int_as_float(0x7fffffff);
        unsigned up = __ballot_sync(0xffffffffu, v > hi);
        unsigned down = __ballot_sync(0xffffffffu, v < lo);
        if (up | down) {
            carry = (up >> (31 - __clz(up | down))) & 1u;
            break;
        }
    }
    int changes = 0;
    for (int base = from; base < to; base += 32) {
        int i = base + lane;
        float v = i < to ? in[i] : __int_as_float(0x7fffffff);
        unsigned up = __ballot_sync(0xffffffffu, v > hi);
        unsigned down = __ballot_sync(0xffffffffu, v < lo);
        unsigned decisive = (up | down) & upto;
        unsigned on = decisive ? (up >> (31 - __clz(decisive))) & 1u : carry;
        unsigned word = __ballot_sync(0xffffffffu, on);
        changes += __popc(word ^ ((word << 1) | carry));
        carry = word >> 31;
        if (i < to) out[i] = (unsigned char)on;
    }
    if (lane == 0) part[warp] = changes;
    __syncthreads();
    if (threadIdx.x == 0) flips[row] = part[0] + part[1] + part[2] + part[3];
}
