// Ballots of many juries: every verdict that more than a quarter of a jury voted for. The ballots are sorted (by
// counting, verdicts are 0..11); in the sorted row a verdict with
// more than a quarter of the jury covers one of the first three multiples of a quarter.
#include <cuda_runtime.h>

#define FULL 0xffffffffu

__global__ void verdicts(const int* __restrict__ ballots, int* __restrict__ heavy, int rows, int m)
{
    __shared__ int bins[8][12];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int r = blockIdx.x * 8 + warp;
    if (r >= rows) return;
    const int* row = ballots + (long long)r * m;
    if (lane < 12) bins[warp][lane] = 0;
    __syncwarp();
    for (int i = lane; i < m; i += 32) atomicAdd(&bins[warp][row[i]], 1);
    __syncwarp();
    // What stands at one place of the sorted row, and how often it occurs.
    int verdict = -1;
    if (lane < 3) {
        int place = (lane + 1) * (m / 4);
        int before = 0;
        for (int v = 0; v < 12; ++v) {
            int n = bins[warp][v];
            if (place >= before && place < before + n && 4 * (long long)n > m) verdict = v;
            before += n;
        }
    }
    int left = __shfl_up_sync(FULL, verdict, 1);
    int second = __shfl_sync(FULL, verdict, 0);
    bool fresh = verdict >= 0 && (lane == 0 || verdict != left) && (lane < 2 || verdict != second);
    unsigned chosen = __ballot_sync(FULL, fresh);
    int at = __popc(chosen & ((1u << lane) - 1));
    if (fresh) heavy[3LL * r + at] = verdict;
    if (lane < 3 && lane >= __popc(chosen)) heavy[3LL * r + lane] = -1;
}

extern "C" void jury(const int* ballots, int* heavy, int rows, int m)
{
    verdicts<<<(rows + 7) / 8, 256>>>(ballots, heavy, rows, m);
}
