// Geysers; one warp per vent, 64 steps per round, two neighbouring ones per lane. A scan over the warp gives the level at
// each step as if nothing happened; the first step at or above the capacity erupts, and what has come in after it is
// the new level. A round brings far less than two tanks full, so there is no need to look for a second eruption.
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
    for (int first = 0; first < steps; first += 64) {
        int t = first + 2 * lane;
        int one = t < steps ? in[t] : 0, two = t + 1 < steps ? in[t + 1] : 0;
        int sum = one + two;
#pragma unroll
        for (int step = 1; step < 32; step <<= 1) {
            int left = __shfl_up_sync(ALL, sum, step);
            if (lane >= step) sum += left;
        }
        int total = __shfl_sync(ALL, sum, 31);
        unsigned reached = __ballot_sync(ALL, now + sum >= full);
        if (reached) {
            int hit = __ffs(reached) - 1;
            bool early = now + sum - two >= full;      // already at the lane's first step
            int then = __shfl_sync(ALL, early ? sum - two : sum, hit);
            int odd = __shfl_sync(ALL, early ? 0 : 1, hit);
            n++;
            at = first + 2 * hit + odd;
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
