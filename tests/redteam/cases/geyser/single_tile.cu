// Geysers; 128 vents per block. The block fetches 32 steps of its vents with whole cache lines into shared memory, in
// which each thread then walks along its vent. The pitch of 33 keeps both accesses free of bank conflicts.
extern "C" __global__ void __launch_bounds__(128)
geyser(const int* __restrict__ inflow, const int* __restrict__ cap, int* __restrict__ level,
       int* __restrict__ count, int* __restrict__ last, int* __restrict__ over,
       int vents, int steps)
{
    __shared__ int tile[128][33];
    int tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    int first = blockIdx.x * 128, v = first + tid;
    bool live = v < vents;
    int full = live ? cap[v] : 1, now = live ? level[v] : 0;
    int n = 0, at = -1, above = 0;
    for (int t = 0; t < steps; t += 32) {
        // a warp takes every fourth vent of the block
        for (int r = warp; r < 128; r += 4)
            if (first + r < vents && t + lane < steps)
                tile[r][lane] = inflow[(size_t)(first + r) * steps + t + lane];
        __syncthreads();
        int many = min(32, steps - t);
        if (live)
            for (int k = 0; k < many; k++) {
                now += tile[tid][k];
                if (now >= full) {
                    n++;
                    at = t + k;
                    above += now - full;
                    now = 0;
                }
            }
    }
    if (live) {
        level[v] = now;
        count[v] = n;
        last[v] = at;
        over[v] = above;
    }
}
