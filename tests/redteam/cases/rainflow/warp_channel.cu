// Rainflow counting of load histories, four points at a time, as fatigue tests of aircraft parts use it.
// load[t * channels + c] is the level (six bits) of channel c at time t. For each channel:
// cycles[c * 64 + r]: half cycles of range r (a closed cycle is two, each range of the residue is one);
// damage[c]: the fourth power of each half cycle's range, summed up.

#define LEVELS 64

__device__ long long fourth(int r)
{
    return (long long)r * r * r * r;
}


// A warp for each channel: each lane keeps the bins of two ranges, all keep the list of turning points.
__global__ void rainflow(const unsigned char *__restrict__ load, int *__restrict__ cycles,
                         long long *__restrict__ damage, int channels, int n)
{
    int lane = threadIdx.x & 31;
    int c = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (c >= channels)
        return;
    int low = 0, high = 0;
    auto count = [&](int r, int halves) {
        if (lane == (r & 31)) {
            if (r < 32)
                low += halves;
            else
                high += halves;
        }
    };

    int points[2 * LEVELS + 2];
    int depth = 1, direction = 0;
    int current = load[c] & (LEVELS - 1);
    points[0] = current;
    auto push = [&](int level) {
        points[depth++] = level;
        while (depth >= 4) {
            int before = abs(points[depth - 4] - points[depth - 3]);
            int inner = abs(points[depth - 3] - points[depth - 2]);
            int after = abs(points[depth - 2] - points[depth - 1]);
            if (inner > before || inner > after)
                break;
            count(inner, 2);
            points[depth - 3] = points[depth - 1];
            depth -= 2;
        }
    };
    for (int t = 1; t < n; t += 32) {
        int level = t + lane < n ? load[(size_t)(t + lane) * channels + c] & (LEVELS - 1) : -1;
        int previous = __shfl_up_sync(0xffffffffu, level, 1);
        if (lane == 0)
            previous = current;
        unsigned changes = __ballot_sync(0xffffffffu, level >= 0 && level != previous);
        while (changes) {
            int from = __ffs(changes) - 1;
            changes &= changes - 1;
            int next = __shfl_sync(0xffffffffu, level, from);
            int now = next > current ? 1 : -1;
            if (direction != 0 && now != direction)
                push(current);
            direction = now;
            current = next;
        }
    }
    if (direction != 0)
        push(current);
    for (int k = 1; k < depth; ++k)
        count(abs(points[k] - points[k - 1]), 1);

    cycles[(size_t)c * LEVELS + lane] = low;
    cycles[(size_t)c * LEVELS + 32 + lane] = high;
    long long worn = low * fourth(lane) + high * fourth(lane + 32);
    for (int step = 16; step > 0; step /= 2)
        worn += __shfl_down_sync(0xffffffffu, worn, step);
    if (lane == 0)
        damage[c] = worn;
}
