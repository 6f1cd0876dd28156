// Geysers; between eruptions there is nothing to decide. From the level one knows how many steps cannot fill the tank
// (at most 999 comes in a step); these are added up without a test, several at a time.
extern "C" __global__ void geyser(const int* __restrict__ inflow, const int* __restrict__ cap, int* __restrict__ level,
                                  int* __restrict__ count, int* __restrict__ last, int* __restrict__ over,
                                  int vents, int steps)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vents) return;
    const int* in = inflow + (size_t)v * steps;
    int full = cap[v], now = level[v];
    int n = 0, at = -1, above = 0;
    int t = 0;
    while (t < steps) {
        int still = min((full - 1 - now) / 999, steps - t);
        if (still > 0) {
            int end = t + still, a = 0, b = 0, c = 0, d = 0;
            for (; t + 3 < end; t += 4) {
                a += in[t];
                b += in[t + 1];
                c += in[t + 2];
                d += in[t + 3];
            }
            for (; t < end; t++) a += in[t];
            now += (a + b) + (c + d);
            continue;
        }
        now += in[t];
        if (now >= full) {
            n++;
            at = t;
            above += now - full;
            now = 0;
        }
        t++;
    }
    level[v] = now;
    count[v] = n;
    last[v] = at;
    over[v] = above;
}
