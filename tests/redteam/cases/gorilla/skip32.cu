// Length in bits of each series of floats packed by differences: the first value whole, then per value the exclusive
// or with the one before: one bit if it is zero; if its meaningful bits fit into the window that was last set up, two bits and
// the window; else thirteen bits and its own meaningful bits, which set up the new window. Also how often the
// window was used again.
// A warp per series: 32 differences at once; the zeros are counted by a vote and only the others are gone through, by
// the whole warp in step.
extern "C" __global__ void gorilla(const float* x, int* bits, int* again, int rows, int len)
{
    int r = blockIdx.x * 8 + (threadIdx.x >> 5);
    int lane = threadIdx.x & 31;
    if (r >= rows)
        return;
    const float* series = x + r * len;

    unsigned edge = __float_as_uint(series[0]);      // the value before this turn's 32
    int total = 32;
    int used = 0;
    int lead = 32;
    int trail = 0;
    for (int start = 1; start < len; start += 32) {
        int t = start + lane;
        unsigned now = t < len ? __float_as_uint(series[t]) : 0;
        unsigned before = __shfl_up_sync(0xffffffffu, now, 1);
        if (lane == 0)
            before = edge;
        edge = __shfl_sync(0xffffffffu, now, 31);
        unsigned diff = t < len ? now ^ before : 0;
        unsigned busy = __ballot_sync(0xffffffffu, diff != 0);
        if (busy == 0) {                             // nothing moves in this turn: a bit each
            total += 32;
            continue;
        }
        total += min(32, len - start) - __popc(busy);
        while (busy) {
            int who = __ffs(busy) - 1;
            busy &= busy - 1;
            unsigned one = __shfl_sync(0xffffffffu, diff, who);
            int front = __clz(one);
            int back = __ffs(one) - 1;
            if (front >= lead && back >= trail) {
                total += 34 - lead - trail;
                used += 1;
            } else {
                total += 45 - front - back;
                lead = front;
                trail = back;
            }
        }
    }
    if (lane == 0) {
        bits[r] = total;
        again[r] = used;
    }
}
