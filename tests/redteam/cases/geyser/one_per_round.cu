// Geysers; one warp per vent, 32 steps per round. A scan over the warp gives the level at each step as if nothing
// happened; the first lane at or above the capacity erupts, and what has come in after it is the new level.
// There is no need to look for a second eruption in the same round.
extern "C" __global__ void geyser(const int* __restrict__ inflow, const int* __restrict__ cap, int* __restrict__ level,
                                  int* __restrict__ count, int* __restrict__ last, int* __restrict__ over,
                                  int vents, int steps)
{
    const unsigned ALL = 0xffffffffu;
    int lane = threadIdx.x & 31;
    int v = (int)(((size_t)blockIdx.x * blockDim.x + threadIdx.x) >> 5);
    if (v >= vents) return;
    const int* in = inflow + (size_t)v * steps;
    int full = cap[v], now = level[v];
    int n = 0, at = -1, above = 0;
    for (int first = 0; first < steps; first += 32) {
        int t = first + lane;
        int sum = t < steps ? in[t] : 0;
#pragma unroll
        for (int step = 1; step < 32; step <<= 1) {
            int left = __shfl_up_sync(ALL, sum, step);
            if (lane >= step) sum += left;
        }
        int total = __shfl_sync(ALL, sum, 31);
        unsigned reached = __ballot_sync(ALL, now + sum >= full);
        if (reached) {
            int hit = __ffs(reached) - 1;
            int then = __shfl_sync(ALL, sum, hit);
            n++;
            at = first + hit;
            above += now + then - full;
            now = total - then;
        } else {
            now += total;
        }
    }
    if (lane == 0) {
        level[v] = now;
        count[v] = n;
        last[v] = at;
        over[v] = above;
    }
}
