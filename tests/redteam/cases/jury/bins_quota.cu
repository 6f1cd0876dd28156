// Ballots of many juries: every verdict that more than a quarter of a jury voted for. Verdicts are 0..11: a warp
// per jury counts them in shared memory and compares with the quota, worked out once.
#include <cuda_runtime.h>

#define FULL 0xffffffffu

__global__ void verdicts(const int* __restrict__ ballots, int* __restrict__ heavy, int rows, int m, int quota)
{
    __shared__ int bins[8][32];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int r = blockIdx.x * 8 + warp;
    if (r >= rows) return;
    const int* row = ballots + (long long)r * m;
    bins[warp][lane] = 0;
    __syncwarp();
    for (int i = lane; i < m; i += 32) atomicAdd(&bins[warp][row[i]], 1);
    __syncwarp();
    unsigned chosen = __ballot_sync(FULL, bins[warp][lane] >= quota);
    if (lane < 3) {
        for (int k = 0; k < lane; ++k) chosen &= chosen - 1;
        heavy[3LL * r + lane] = __ffs(chosen) - 1;
    }
}

extern "C" void jury(const int* ballots, int* heavy, int rows, int m)
{
    int quota = (m + 3) / 4;
    verdicts<<<(rows + 7) / 8, 256>>>(ballots, heavy, rows, m, quota);
}
