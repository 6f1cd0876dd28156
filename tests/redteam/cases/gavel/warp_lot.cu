// Sealed-bid second-price auctions; one warp per lot.
// Each lane keeps its best bid, whose it is and the next best; the lanes are joined with shuffles down to lane 0.
#include <math_constants.h>

extern "C" __global__ void gavel(const float* __restrict__ bid, const float* __restrict__ reserve,
                                 int* __restrict__ winner, float* __restrict__ price, int lots, int bidders)
{
    const unsigned ALL = 0xffffffffu;
    int lane = threadIdx.x & 31;
    int lot = (int)(((size_t)blockIdx.x * blockDim.x + threadIdx.x) >> 5);
    if (lot >= lots) return;
    const float* row = bid + (size_t)lot * bidders;

    int who = INT_MAX;                                 // nobody
    float best = -CUDART_INF_F, next = -CUDART_INF_F;
    for (int j = lane; j < bidders; j += 32) {
        float v = row[j];
        bool first = who == INT_MAX && v == v;
        if (first || v > best) {
            next = best;
            best = v;
            who = j;
        } else if (v > next) {
            next = v;
        }
    }
    for (int step = 16; step > 0; step >>= 1) {
        float b = __shfl_down_sync(ALL, best, step);
        float x = __shfl_down_sync(ALL, next, step);
        int w = __shfl_down_sync(ALL, who, step);
        if (b > best || (b == best && w < who)) {
            next = fmaxf(best, x);
            best = b;
            who = w;
        } else {
            next = fmaxf(next, b);
        }
    }
    if (lane == 0) {
        float least = reserve[lot];
        bool sold = who != INT_MAX && best >= least;
        winner[lot] = sold ? who : -1;
        price[lot] = sold ? (next > least ? next : least) : 0.0f;
    }
}
