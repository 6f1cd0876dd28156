// Ballots of many juries: every verdict that more than a quarter of a jury voted for. Verdicts are 0..11: each lane
// of a warp counts in twelve 4-bit fields of one word and empties them into the twelve totals every 16 ballots.
#include <cuda_runtime.h>

#define FULL 0xffffffffu
#define SPELL 16

__global__ void verdicts(const int* __restrict__ ballots, int* __restrict__ heavy, int rows, int m)
{
    int lane = threadIdx.x & 31;
    int r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (r >= rows) return;
    const int* row = ballots + (long long)r * m;
    int total[12];
#pragma unroll
    for (int v = 0; v < 12; ++v) total[v] = 0;
    int i = lane;
    while (i < m) {
        unsigned long long fields = 0;
        for (int k = 0; k < SPELL && i < m; ++k, i += 32) fields += 1ull << (4 * row[i]);
#pragma unroll
        for (int v = 0; v < 12; ++v) total[v] += (int)(fields >> (4 * v)) & 15;
    }
    int number = 0, mine = -1;
#pragma unroll
    for (int v = 0; v < 12; ++v) {
        int c = __reduce_add_sync(FULL, total[v]);
        if (4 * (long long)c > m) {
            if (lane == number) mine = v;
            ++number;
        }
    }
    if (lane < 3) heavy[3LL * r + lane] = mine;
}

extern "C" void jury(const int* ballots, int* heavy, int rows, int m)
{
    verdicts<<<(rows + 7) / 8, 256>>>(ballots, heavy, rows, m);
}
