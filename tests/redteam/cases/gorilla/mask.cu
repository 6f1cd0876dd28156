// Length in bits of each series of floats packed by differences: the first value whole, then per value the exclusive
// or with the one before: one bit if it is zero; if its meaningful bits fit into the window that was last set up, two bits and
// the window; else thirteen bits and its own meaningful bits, which set up the new window. Also how often the
// window was used again.
extern "C" __global__ void gorilla(const float* x, int* bits, int* again, int rows, int len)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows)
        return;
    const float* series = x + r * len;

    unsigned before = __float_as_uint(series[0]);
    int total = 32;
    int used = 0;
    unsigned window = 0;                             // ones where the window is; none at first
    for (int t = 1; t < len; t++) {
        unsigned now = __float_as_uint(series[t]);
        unsigned diff = now ^ before;
        before = now;
        if (diff == 0) {
            total += 1;
            continue;
        }
        if ((diff & ~window) == 0) {
            total += 2 + __popc(window);
            used += 1;
        } else {
            int front = __clz(diff);
            int back = __clz(__brev(diff));
            window = (0xffffffffu >> front) & (0xffffffffu << back);
            total += 45 - front - back;
        }
    }
    bits[r] = total;
    again[r] = used;
}
