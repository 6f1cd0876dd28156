// Ballots of many juries: every verdict that more than a quarter of a jury voted for. A warp per jury: every lane
// keeps a Misra-Gries summary of three counters over its share, then the summaries are merged pair by pair:
// of the six counters that come together the three largest go on. A second pass counts what is left exactly.
#include <cuda_runtime.h>

#define FULL 0xffffffffu

__global__ void verdicts(const int* __restrict__ ballots, int* __restrict__ heavy, int rows, int m)
{
    int lane = threadIdx.x & 31;
    int r = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (r >= rows) return;
    const int* row = ballots + (long long)r * m;
    int value[6], weight[6];
    for (int k = 0; k < 6; ++k) { value[k] = -1; weight[k] = 0; }
    int share = (m + 31) / 32;
    int from = min(m, lane * share), to = min(m, from + share);
    for (int i = from; i < to; ++i) {
        int v = row[i];
        bool done = false;
        for (int k = 0; k < 3; ++k)
            if (!done && weight[k] > 0 && value[k] == v) { ++weight[k]; done = true; }
        for (int k = 0; k < 3; ++k)
            if (!done && weight[k] == 0) { value[k] = v; weight[k] = 1; done = true; }
        if (!done)
            for (int k = 0; k < 3; ++k) --weight[k];
    }
    for (int step = 1; step < 32; step *= 2) {
        for (int k = 0; k < 3; ++k) {
            int v = __shfl_down_sync(FULL, value[k], step);
            int w = __shfl_down_sync(FULL, weight[k], step);
            for (int j = 0; j < 3; ++j)
                if (w > 0 && weight[j] > 0 && value[j] == v) { weight[j] += w; w = 0; }
            value[3 + k] = v;
            weight[3 + k] = w;
        }
        for (int a = 0; a < 5; ++a)                       // six counters, largest first
            for (int b = 0; b < 5 - a; ++b)
                if (weight[b] < weight[b + 1]) {
                    int t = weight[b]; weight[b] = weight[b + 1]; weight[b + 1] = t;
                    t = value[b]; value[b] = value[b + 1]; value[b + 1] = t;
                }

        for (int k = 3; k < 6; ++k) { value[k] = -1; weight[k] = 0; }
    }
    int count[3];
    for (int k = 0; k < 3; ++k) {
        value[k] = __shfl_sync(FULL, value[k], 0);
        weight[k] = __shfl_sync(FULL, weight[k], 0);
        count[k] = 0;
    }
    for (int i = lane; i < m; i += 32) {
        int v = row[i];
        for (int k = 0; k < 3; ++k) count[k] += weight[k] > 0 && value[k] == v;
    }
    int kept[3] = {-1, -1, -1}, number = 0;
    for (int k = 0; k < 3; ++k) {
        int c = __reduce_add_sync(FULL, count[k]);
        if (4 * (long long)c > m) {
            int at = number++;
            while (at > 0 && kept[at - 1] > value[k]) { kept[at] = kept[at - 1]; --at; }
            kept[at] = value[k];
        }
    }
    if (lane == 0)
        for (int k = 0; k < 3; ++k) heavy[3LL * r + k] = kept[k];
}

extern "C" void jury(const int* ballots, int* heavy, int rows, int m)
{
    verdicts<<<(rows + 7) / 8, 256>>>(ballots, heavy, rows, m);
}
