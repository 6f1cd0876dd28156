// Sealed-bid second-price auctions; one warp per lot, branch-free: every lane keeps its two highest bids and the place of
// the higher one, and the lanes are joined with a butterfly of shuffles.
#include <cfloat>

extern "C" __global__ void gavel(const float* __restrict__ bid, const float* __restrict__ reserve,
                                 int* __restrict__ winner, float* __restrict__ price, int lots, int bidders)
{
    const unsigned ALL = 0xffffffffu;
    int lane = threadIdx.x & 31;
    int lot = (int)(((size_t)blockIdx.x * blockDim.x + threadIdx.x) >> 5);
    if (lot >= lots) return;
    const float* row = bid + (size_t)lot * bidders;

    int who = 0x7fffffff;
    float best = -FLT_MAX, next = -FLT_MAX;
    for (int j = lane; j < bidders; j += 32) {
        float v = row[j];
        bool up = v > best || (v == best && who == 0x7fffffff);
        next = up ? best : fmaxf(next, v);
        who = up ? j : who;
        best = up ? v : best;
    }
#pragma unroll
    for (int step = 16; step > 0; step >>= 1) {
        float b = __shfl_xor_sync(ALL, best, step);
        float x = __shfl_xor_sync(ALL, next, step);
        int w = __shfl_xor_sync(ALL, who, step);
        bool up = b > best || (b == best && w < who);
        next = up ? fmaxf(best, x) : fmaxf(next, b);
        who = up ? w : who;
        best = up ? b : best;
    }
    if (lane == 0) {
        float least = reserve[lot];
        bool sold = who != 0x7fffffff && best >= least;
        winner[lot] = sold ? who : -1;
        price[lot] = sold ? fmaxf(next, least) : 0.0f;
    }
}
