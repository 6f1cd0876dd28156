// One-sided control charts: what readings exceed their target by is added up, never below zero. Above its limit a
// chart raises an alarm and begins again. Kept are the number of alarms, where the first one was (n: none), the
// highest level and the level at the end.
struct Chart {
    int level, count, where, highest;
};

__device__ void follow(Chart& c, const int* mine, int from, int to, int aim, int most)
{
    for (int i = from; i < to; ++i) {
        c.level = max(0, c.level + mine[i] - aim);
        c.highest = max(c.highest, c.level);
        if (c.level > most) {
            if (c.count == 0)
                c.where = i;
            ++c.count;
            c.level = 0;
        }
    }
}

__global__ void cusum(const int* __restrict__ x, const int* __restrict__ target, const int* __restrict__ limit,
                      int* __restrict__ alarms, int* __restrict__ first, int* __restrict__ peak,
                      int* __restrict__ last, int rows, int n)
{
    // two lanes share a row, a half for each
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    const bool late = thread & 1;
    const int row = min(thread / 2, rows - 1);
    const int* mine = x + (long long)row * n;
    const int aim = target[row];
    const int most = limit[row];
    const int half = n / 2;
    const int warm = max(0, half - 64);
    const int from = late ? half : 0;
    const int to = late ? n : half;
    Chart start = {0, 0, n, 0};
    Chart other = {warm > 0 ? most : 0, 0, n, 0};
    if (late) {     // from the lowest level and from the highest: where they meet it does not matter which it was
        follow(start, mine, warm, half, aim, most);
        follow(other, mine, warm, half, aim, most);
    }
    Chart chart = {start.level, 0, n, 0};
    follow(chart, mine, from, to, aim, most);
    const int truth = __shfl_xor_sync(0xffffffffu, chart.level, 1);
    if (late && start.level != other.level) {
        chart = Chart{truth, 0, n, 0};
        follow(chart, mine, from, to, aim, most);
    }
    const int count = chart.count + __shfl_xor_sync(0xffffffffu, chart.count, 1);
    const int where = min(chart.where, __shfl_xor_sync(0xffffffffu, chart.where, 1));
    const int highest = max(chart.highest, __shfl_xor_sync(0xffffffffu, chart.highest, 1));
    if (late && thread / 2 < rows) {
        alarms[row] = count;
        first[row] = where;
        peak[row] = highest;
        last[row] = chart.level;
    }
}
