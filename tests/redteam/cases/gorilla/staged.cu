// Length in bits of each series of floats packed by differences: the first value whole, then per value the exclusive
// or with the one before: one bit if it is zero; if its meaningful bits fit into the window that was last set up, two bits and
// the window; else thirteen bits and its own meaningful bits, which set up the new window. Also how often the
// window was used again.
// 128 series per block; their values go through shared memory, 32 columns at a time, so that the loads are of whole lines.
extern "C" __global__ void gorilla(const float* x, int* bits, int* again, int rows, int len)
{
    __shared__ float tile[128][33];
    int first = blockIdx.x * 128;
    int r = first + threadIdx.x;
    int lane = threadIdx.x & 31;
    int warp = threadIdx.x >> 5;

    unsigned before = 0;
    int total = 0;
    int used = 0;
    int lead = 32;
    int trail = 0;
    for (int start = 0; start < len; start += 32) {
        int width = min(32, len - start);
        for (int k = warp; k < 128 && first + k < rows; k += 4)
            if (lane < width)
                tile[k][lane] = x[(first + k) * len + start + lane];
        __syncthreads();
        if (r < rows) {
            for (int t = 0; t < width; t++) {
                unsigned now = __float_as_uint(tile[threadIdx.x][t]);
                unsigned diff = now ^ before;
                before = now;
                if (start + t == 0) {
                    total = 32;
                } else if (diff == 0) {
                    total += 1;
                } else {
                    int front = __clz(diff);
                    int back = __ffs(diff) - 1;
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
        }
        __syncthreads();
    }
    if (r < rows) {
        bits[r] = total;
        again[r] = used;
    }
}
