// Bud burst of fruit trees (chilling, then forcing), one warp per orchard.
// Chilling: every hour adds the half chill units of its temperature (tenths of a degree);
// warm hours take units away, but the store is never below nothing.  In the hour in which the store
// reaches `chill` the bud is released; from the next hour on, warmth above 4.5 degrees adds up
// until it reaches `force`.  -1: did not happen within the record.
__device__ __forceinline__ int units(int t)
{
    if (t < 14) return 0;
    if (t < 24) return 1;
    if (t < 91) return 2;
    if (t < 124) return 1;
    if (t < 159) return 0;
    if (t < 180) return -1;
    return -2;
}

#define FULL 0xffffffffu

extern "C" __global__ void budburst(const short* temp, const int* bank, int* release, int* burst,
                                    int sites, int hours, int chill, int force)
{
    const int lane = threadIdx.x & 31;
    const int s = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (s >= sites) return;
    const short* row = temp + (size_t)s * hours;
    int freed = -1, open = -1;
    int store = bank[s];
    for (int first = 0; first < hours; first += 32) {
        const int h = first + lane;
        int sum = h < hours ? units(row[h]) : 0;
        for (int d = 1; d < 32; d <<= 1) {
            const int other = __shfl_up_sync(FULL, sum, d);
            if (lane >= d) sum += other;
        }
        const int now = store + sum;
        const unsigned hit = __ballot_sync(FULL, h < hours && now >= chill);
        if (hit) { freed = first + __ffs(hit) - 1; break; }
        store = __shfl_sync(FULL, now, 31);
    }

    if (freed >= 0) {
        int warmth = 0;
        for (int first = freed & ~31; first < hours; first += 32) {
            const int h = first + lane;
            const bool counts = h > freed && h < hours;
            int w = counts ? max(0, row[h] - 45) : 0;
            for (int d = 1; d < 32; d <<= 1) {
                const int other = __shfl_up_sync(FULL, w, d);
                if (lane >= d) w += other;
            }
            const unsigned hit = __ballot_sync(FULL, counts && warmth + w >= force);
            if (hit) { open = first + __ffs(hit) - 1; break; }
            warmth += __shfl_sync(FULL, w, 31);
        }
    }
    if (lane == 0) { release[s] = freed; burst[s] = open; }
}
