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

// The floor at nothing is a reflection: the store is the free sum less its lowest point so far (if below nothing).
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
    int sum = store, lowest = 0;
    for (int first = 0; first < hours; first += 32) {
        const int h = first + lane;
        int free_sum = h < hours ? units(row[h]) : 0;
        for (int d = 1; d < 32; d <<= 1) {
            const int other = __shfl_up_sync(FULL, free_sum, d);
            if (lane >= d) free_sum += other;
        }
        free_sum += sum;
        int low = min(free_sum, lowest);
        for (int d = 1; d < 32; d <<= 1) {
            const int other = __shfl_up_sync(FULL, low, d);
            if (lane >= d) low = min(low, other);
        }
        const unsigned hit = __ballot_sync(FULL, h < hours && free_sum - low >= chill);
        if (hit) { freed = first + __ffs(hit) - 1; break; }
        sum = __shfl_sync(FULL, free_sum, 31);
        lowest = __shfl_sync(FULL, low, 31);
    }

    // warmth never falls, so whole stretches are summed and only the last one is looked into
    if (freed >= 0) {
        int warmth = 0;
        for (int first = freed + 1; first < hours; first += 32) {
            const int h = first + lane;
            const int w = h < hours ? max(0, row[h] - 45) : 0;
            const int stretch = __reduce_add_sync(FULL, w);
            if (warmth + stretch < force) { warmth += stretch; continue; }
            for (int k = 0; k < 32; ++k) {
                warmth += __shfl_sync(FULL, w, k);
                if (warmth >= force) { open = first + k; break; }
            }
            break;
        }
    }
    if (lane == 0) { release[s] = freed; burst[s] = open; }
}
