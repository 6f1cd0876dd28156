// One-sided control charts: what readings exceed their target by is added up, never below zero. Above its limit a
// chart raises an alarm and begins again. Kept are the number of alarms, where the first one was (n: none), the
// highest level and the level at the end.
__global__ void cusum(const int* __restrict__ x, const int* __restrict__ target, const int* __restrict__ limit,
                      int* __restrict__ alarms, int* __restrict__ first, int* __restrict__ peak,
                      int* __restrict__ last, int rows, int n)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const int* mine = x + (long long)row * n;
    const int aim = target[row];
    const int most = limit[row];
    int level = 0, count = 0, where = n, highest = 0;
    for (int i = 0; i < n; ++i) {
        level = max(0, level + mine[i] - aim);
        highest = max(highest, level);
        if (level > most) {
            if (count == 0)
                where = i;
            ++count;
            level = 0;
        }
    }
    alarms[row] = count;
    first[row] = where;
    peak[row] = highest;
    last[row] = level;
}
