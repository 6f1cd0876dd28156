// A block per cistern, stretches of 64 steps in parallel. The level before a stretch is squeezed between an
// empty and a full cistern run over the 64 steps ahead of it; where the two have met, the level is known.
#define STRETCH 64

extern "C" __global__ void cistern(const int* flow, const int* start, const int* cap, int* level, int* spill,
                                   int rows, int steps)
{
    __shared__ int total;
    int r = blockIdx.x;
    const int* f = flow + (size_t)r * steps;
    int* out = level + (size_t)r * steps;
    const int top = cap[r];
    if (threadIdx.x == 0) total = 0;
    __syncthreads();

    int over = 0;
    for (int c0 = threadIdx.x * STRETCH; c0 < steps; c0 += blockDim.x * STRETCH) {
        int v;
        if (c0 == 0) {
            v = start[r];
        } else {
            int dry = 0, full = top;
            for (int t = c0 - STRETCH; t < c0; t++) {
                dry = max(min(dry + f[t], top), 0);
                full = max(min(full + f[t], top), 0);
            }
            v = dry;
            if (dry != full) {                    // a quiet stretch: go back to the beginning
                v = start[r];
                for (int t = 0; t < c0; t++) v = max(min(v + f[t], top), 0);
            }
        }
        int end = min(c0 + STRETCH, steps);
        for (int t = c0; t < end; t++) {
            v += f[t];
            if (v > top) {
                over += v - top;
                v = top;
            }
            if (v < 0) v = 0;
            out[t] = v;
        }
    }
    atomicAdd(&total, over);
    __syncthreads();
    if (threadIdx.x == 0) spill[r] = total;
}
