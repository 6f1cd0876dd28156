// Geysers: every step some water flows into the tank of a vent; when the tank holds at least its capacity, the vent
// erupts and the tank is empty. Counted are the eruptions, the step of the last one (-1: none) and the water that was
// above the capacity at eruptions. level: what the tank holds at first and, on return, at last.
extern "C" __global__ void geyser(const int* __restrict__ inflow, const int* __restrict__ cap, int* __restrict__ level,
                                  int* __restrict__ count, int* __restrict__ last, int* __restrict__ over,
                                  int vents, int steps)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vents) return;
    const int* in = inflow + (size_t)v * steps;
    int full = cap[v], now = level[v];
    int n = 0, at = -1, above = 0;
    for (int t = 0; t < steps; t++) {
        now += in[t];
        if (now >= full) {
            n++;
            at = t;
            above += now - full;
            now = 0;
        }
    }
    level[v] = now;
    count[v] = n;
    last[v] = at;
    over[v] = above;
}
