// Rainflow counting of load histories, four points at a time, as fatigue tests of aircraft parts use it.
// load[t * channels + c] is the level (six bits) of channel c at time t. For each channel:
// cycles[c * 64 + r]: half cycles of range r (a closed cycle is two, each range of the residue is one);
// damage[c]: the fourth power of each half cycle's range, summed up.

#define LEVELS 64

__device__ long long fourth(int r)
{
    return (long long)r * r * r * r;
}

// Takes closed cycles off the end of the list of turning points.
__device__ int close_cycles(unsigned char *points, int depth, int *bins, long long &worn)
{
    while (depth >= 4) {
        int before = abs(points[depth - 4] - points[depth - 3]);
        int inner = abs(points[depth - 3] - points[depth - 2]);
        int after = abs(points[depth - 2] - points[depth - 1]);
        if (inner > before || inner > after)
            break;
        bins[inner] += 2;
        worn += 2 * fourth(inner);
        points[depth - 3] = points[depth - 1];
        depth -= 2;
    }
    return depth;
}

__global__ void rainflow(const unsigned char *__restrict__ load, int *__restrict__ cycles,
                         long long *__restrict__ damage, int channels, int n)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels)
        return;
    int *bins = cycles + (size_t)c * LEVELS;
    for (int r = 0; r < LEVELS; ++r)
        bins[r] = 0;
    long long worn = 0;

    // Ranges in the list grow strictly up to the largest, which may come twice, and shrink strictly from there.
    unsigned char points[2 * LEVELS];
    int depth = 1, direction = 0;
    int current = load[c] & (LEVELS - 1);
    points[0] = current;
    for (int t = 1; t < n; ++t) {
        int level = load[(size_t)t * channels + c] & (LEVELS - 1);
        if (level == current)
            continue;
        int now = level > current ? 1 : -1;
        if (direction != 0 && now != direction) {
            points[depth++] = current;
            depth = close_cycles(points, depth, bins, worn);
        }
        direction = now;
        current = level;
    }
    if (direction != 0) {
        points[depth++] = current;
        depth = close_cycles(points, depth, bins, worn);
    }
    for (int k = 1; k < depth; ++k) {
        int r = abs(points[k] - points[k - 1]);
        bins[r] += 1;
        worn += fourth(r);
    }
    damage[c] = worn;
}
