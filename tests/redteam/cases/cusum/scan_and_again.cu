// One-sided control charts: what readings exceed their target by is added up, never below zero. Above its limit a
// chart raises an alarm and begins again. Kept are the number of alarms, where the first one was (n: none), the
// highest level and the level at the end.
__global__ void cusum(const int* __restrict__ x, const int* __restrict__ target, const int* __restrict__ limit,
                      int* __restrict__ alarms, int* __restrict__ first, int* __restrict__ peak,
                      int* __restrict__ last, int rows, int n)
{
    const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    const unsigned all = 0xffffffffu;
    if (row >= rows)
        return;
    const int* mine = x + (long long)row * n;
    const int aim = target[row];
    const int most = limit[row];
    int level = 0, count = 0, where = n, highest = 0;
    for (int begin = 0; begin < n; begin += 32) {
        const int length = min(32, n - begin);
        const int d = lane < length ? mine[begin + lane] - aim : 0;
        int from = 0;
        while (from < length) {
            int sum = lane >= from ? d : 0;
            for (int step = 1; step < 32; step *= 2) {
                const int other = __shfl_up_sync(all, sum, step);
                if (lane >= step)
                    sum += other;
            }
            int least = sum;
            for (int step = 1; step < 32; step *= 2) {
                const int other = __shfl_up_sync(all, least, step);
                if (lane >= step)
                    least = min(least, other);
            }
            const int here = max(level + sum, sum - least);
            const unsigned above = __ballot_sync(all, lane >= from && lane < length && here > most);
            if (above == 0) {
                highest = max(highest, __reduce_max_sync(all, here));
                level = __shfl_sync(all, here, 31);
                break;
            }
            const int at = __ffs(above) - 1;
            highest = max(highest, __shfl_sync(all, here, at));
            if (count == 0)
                where = begin + at;
            ++count;
            level = 0;
            from = at + 1;
        }
    }
    if (lane == 0) {
        alarms[row] = count;
        first[row] = where;
        peak[row] = highest;
        last[row] = level;
    }
}
