// Sealed-bid second-price auctions: one row of bids per lot, one reserve per lot.
// The highest bid wins, the earliest of equal ones; the winner pays the next highest bid or the reserve, whichever is
// higher. A bid that is not a number was not made. If no bid reaches the reserve, the lot is not sold: winner -1, price 0.
// A reserve of minus infinity means that there is none.
#include <math_constants.h>

extern "C" __global__ void gavel(const float* __restrict__ bid, const float* __restrict__ reserve,
                                 int* __restrict__ winner, float* __restrict__ price, int lots, int bidders)
{
    int lot = blockIdx.x * blockDim.x + threadIdx.x;
    if (lot >= lots) return;
    const float* row = bid + (size_t)lot * bidders;

    int who = -1;
    float best = -CUDART_INF_F, next = -CUDART_INF_F;
    for (int j = 0; j < bidders; j++) {
        float v = row[j];
        if (v != v) continue;
        if (who < 0 || v > best) {
            next = best;
            best = v;
            who = j;
        } else if (v > next) {
            next = v;
        }
    }
    float least = reserve[lot];
    if (who < 0 || !(best >= least)) {
        winner[lot] = -1;
        price[lot] = 0.0f;
    } else {
        winner[lot] = who;
        price[lot] = next > least ? next : least;
    }
}
