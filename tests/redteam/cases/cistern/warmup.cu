// A block per cistern, stretches of 64 steps in parallel. Clamping forgets the past, so every stretch
// is run in over the 256 steps ahead of it and then goes on from the level reached.
#define STRETCH 64
#define RUNIN 256

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
        int from = max(c0 - RUNIN, 0);
        int v = from == 0 ? start[r] : top;
        for (int t = from; t < c0; t++) v = max(min(v + f[t], top), 0);
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
