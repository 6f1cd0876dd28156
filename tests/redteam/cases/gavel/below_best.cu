// Sealed-bid second-price auctions; one warp per lot, the row is read twice, the second time from the L1 cache:
// first for the winner, then for the highest bid that he has beaten.
#include <math_constants.h>

extern "C" __global__ void gavel(const float* __restrict__ bid, const float* __restrict__ reserve,
                                 int* __restrict__ winner, float* __restrict__ price, int lots, int bidders)
{
    const unsigned ALL = 0xffffffffu;
    int lane = threadIdx.x & 31;
    int lot = (int)(((size_t)blockIdx.x * blockDim.x + threadIdx.x) >> 5);
    if (lot >= lots) return;
    const float* row = bid + (size_t)lot * bidders;

    float best = -CUDART_INF_F;
    for (int j = lane; j < bidders; j += 32) best = fmaxf(best, row[j]);
    for (int step = 16; step > 0; step >>= 1) best = fmaxf(best, __shfl_xor_sync(ALL, best, step));

    int who = 0x7fffffff;
    float next = -CUDART_INF_F;
    for (int j = lane; j < bidders; j += 32) {
        float v = row[j];
        if (v == best) who = min(who, j);
        else if (v < best) next = fmaxf(next, v);
    }
    who = __reduce_min_sync(ALL, who);
    for (int step = 16; step > 0; step >>= 1) next = fmaxf(next, __shfl_xor_sync(ALL, next, step));

    if (lane == 0) {
        float least = reserve[lot];
        bool sold = who != 0x7fffffff && best >= least;
        winner[lot] = sold ? who : -1;
        price[lot] = sold ? (next > least ? next : least) : 0.0f;
    }
}
