// Bud burst of fruit trees (chilling, then forcing), one thread per orchard.
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

extern "C" __global__ void budburst(const short* temp, const int* bank, int* release, int* burst,
                                    int sites, int hours, int chill, int force)
{
    const int s = blockIdx.x * blockDim.x + threadIdx.x;
    if (s >= sites) return;
    const short* row = temp + (size_t)s * hours;
    int freed = -1, open = -1;
    int store = bank[s];
    for (int h = 0; h < hours; ++h) {
        store = max(0, store + units(row[h]));
        if (store >= chill) { freed = h; break; }
    }
    if (freed >= 0) {
        int warmth = 0;
        for (int h = freed + 1; h < hours; ++h) {
            warmth += max(0, row[h] - 45);
            if (warmth >= force) { open = h; break; }
        }
    }
    release[s] = freed;
    burst[s] = open;
}
