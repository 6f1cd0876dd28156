// Geysers; one warp per vent, 96 steps per round. The running sums of a round are kept in shared memory as 16-bit
// numbers, which halves the traffic there; eruptions are found in them by bisection, as many as there are.
extern "C" __global__ void __launch_bounds__(128)
geyser(const int* __restrict__ inflow, const int* __restrict__ cap, int* __restrict__ level,
       int* __restrict__ count, int* __restrict__ last, int* __restrict__ over,
       int vents, int steps)
{
    const unsigned ALL = 0xffffffffu;
    __shared__ unsigned short sums[4][96];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int v = blockIdx.x * 4 + warp;
    if (v >= vents) return;
    const int* in = inflow + (size_t)v * steps;
    unsigned short* sum = sums[warp];
    int full = cap[v], now = level[v];
    int n = 0, at = -1, above = 0;
    for (int first = 0; first < steps; first += 96) {
        int own[3], mine = 0;
#pragma unroll
        for (int k = 0; k < 3; k++) {
            int t = first + 3 * lane + k;
            mine += t < steps ? in[t] : 0;
            own[k] = mine;
        }
        int run = mine;
#pragma unroll
        for (int step = 1; step < 32; step <<= 1) {
            int left = __shfl_up_sync(ALL, run, step);
            if (lane >= step) run += left;
        }
#pragma unroll
        for (int k = 0; k < 3; k++) sum[3 * lane + k] = (unsigned short)(run - mine + own[k]);
        __syncwarp();
        // all lanes do the same: `gone` is what had come in up to the last eruption of the round
        int many = min(96, steps - first), gone = 0, from = 0;
        while (from < many && now + (int)sum[many - 1] - gone >= full) {
            int lo = from, hi = many - 1;
            while (lo < hi) {
                int mid = (lo + hi) >> 1;
                if (now + (int)sum[mid] - gone >= full) hi = mid;
                else lo = mid + 1;
            }
            n++;
            at = first + lo;
            above += now + (int)sum[lo] - gone - full;
            now = 0;
            gone = sum[lo];
            from = lo + 1;
        }
        now += (int)sum[many - 1] - gone;
        __syncwarp();
    }
    if (lane == 0) {
        level[v] = now;
        count[v] = n;
        last[v] = at;
        over[v] = above;
    }
}
