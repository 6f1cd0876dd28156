// One-sided control charts: what readings exceed their target by is added up, never below zero. Above its limit a
// chart raises an alarm and begins again. Kept are the number of alarms, where the first one was (n: none), the
// highest level and the level at the end.
__global__ void cusum(const int* __restrict__ x, const int* __restrict__ target, const int* __restrict__ limit,
                      int* __restrict__ alarms, int* __restrict__ first, int* __restrict__ peak,
                      int* __restrict__ last, int rows, int n)
{
    // 64 rows a block: tiles of 32 readings go through shared memory
    __shared__ int tile[64][33];
    const int begin = blockIdx.x * 64;
    const int row = begin + threadIdx.x;
    const int lane = threadIdx.x % 32;
    const int aim = row < rows ? target[row] : 0;
    const int most = row < rows ? limit[row] : 0;
    int level = 0, count = 0, where = n, highest = 0;
    for (int at = 0; at < n; at += 32) {
        for (int r = threadIdx.x / 32; r < 64; r += 2)
            if (begin + r < rows && at + lane < n)
                tile[r][lane] = x[(long long)(begin + r) * n + at + lane];
        __syncthreads();
        if (row < rows)
            for (int k = 0; k < min(32, n - at); ++k) {
                level = max(0, level + tile[threadIdx.x][k] - aim);
                highest = max(highest, level);
                if (level > most) {
                    if (count == 0)
                        where = at + k;
                    ++count;
                    level = 0;
                }
            }
    }
    if (row < rows) {
        alarms[row] = count;
        first[row] = where;
        peak[row] = highest;
        last[row] = level;
    }
}
