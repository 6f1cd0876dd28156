// Sealed-bid second-price auctions; the first bid opens, so that the loop needs neither a test for "no bid yet" nor
// one for bids that are not numbers: a comparison with such a bid is false by itself.
#include <math_constants.h>

extern "C" __global__ void gavel(const float* __restrict__ bid, const float* __restrict__ reserve,
                                 int* __restrict__ winner, float* __restrict__ price, int lots, int bidders)
{
    int lot = blockIdx.x * blockDim.x + threadIdx.x;
    if (lot >= lots) return;
    const float* row = bid + (size_t)lot * bidders;

    int who = 0;
    float best = row[0], next = -CUDART_INF_F;
#pragma unroll 8
    for (int j = 1; j < bidders; j++) {
        float v = row[j];
        bool up = v > best;
        next = up ? best : (v > next ? v : next);
        who = up ? j : who;
        best = up ? v : best;
    }
    float least = reserve[lot];
    bool sold = best >= least;
    winner[lot] = sold ? who : -1;
    price[lot] = sold ? (next > least ? next : least) : 0.0f;
}
