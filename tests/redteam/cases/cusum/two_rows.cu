// One-sided control charts: what readings exceed their target by is added up, never below zero. Above its limit a
// chart raises an alarm and begins again. Kept are the number of alarms, where the first one was (n: none), the
// highest level and the level at the end.
__global__ void cusum(const int* __restrict__ x, const int* __restrict__ target, const int* __restrict__ limit,
                      int* __restrict__ alarms, int* __restrict__ first, int* __restrict__ peak,
                      int* __restrict__ last, int rows, int n)
{
    // two charts in the halves of a word: levels are below 1,100
    const int row = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (row >= rows)
        return;
    const bool both = row + 1 < rows;
    const int* lower = x + (long long)row * n;
    const int* upper = both ? lower + n : lower;
    const int aim0 = target[row], most0 = limit[row];
    const int aim1 = both ? target[row + 1] : 0, most1 = both ? limit[row + 1] : 0x7fff;
    unsigned level = 0;
    int count0 = 0, count1 = 0, where0 = n, where1 = n, highest0 = 0, highest1 = 0;
    for (int i = 0; i < n; ++i) {
        const int d0 = lower[i] - aim0;
        const int d1 = both ? upper[i] - aim1 : 0;
        level = __viaddmax_s16x2_relu(level, ((unsigned)d0 & 0xffffu) | (unsigned)d1 << 16, 0u);
        const int level0 = level & 0xffffu, level1 = level >> 16;
        highest0 = max(highest0, level0);
        highest1 = max(highest1, level1);
        if (level0 > most0) {
            where0 = min(where0, i);
            ++count0;
            level &= 0xffff0000u;
        }
        if (level1 > most1) {
            where1 = min(where1, i);
            ++count1;
            level &= 0xffffu;
        }
    }
    alarms[row] = count0;
    first[row] = where0;
    peak[row] = highest0;
    last[row] = level & 0xffffu;
    if (both) {
        alarms[row + 1] = count1;
        first[row + 1] = where1;
        peak[row + 1] = highest1;
        last[row + 1] = level >> 16;
    }
}
