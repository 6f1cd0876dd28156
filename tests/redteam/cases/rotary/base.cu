// Quadrature decoder. Every row holds the two-bit readings of one shaft encoder; forward is 0, 1, 3, 2, 0, ...
// A step forward or back moves the position by one and sets the direction of travel. A reading that changed in both
// bits is a slip: a reading in between was missed, and the shaft is taken to have gone two steps on in the direction it
// last travelled (nowhere, if it never has). pos gets the position at every reading, slips the number of slips per row.
#include <cstdint>

// 0: same reading, 1: one forward, 2: slip, 3: one back
__device__ __forceinline__ int quarter(unsigned prev, unsigned cur)
{
    return (int)(((cur ^ (cur >> 1)) - (prev ^ (prev >> 1))) & 3u);
}

extern "C" __global__ void rotary(const uint8_t* __restrict__ state, int* __restrict__ pos, int* __restrict__ slips,
                                  int rows, int len)
{
    const unsigned full = 0xffffffffu;
    const int lane = threadIdx.x & 31;
    const int row = (int)((blockIdx.x * blockDim.x + threadIdx.x) >> 5);
    if (row >= rows) return;
    const uint8_t* s = state + (size_t)row * len;
    int* p = pos + (size_t)row * len;

    int place = 0, heading = 0, bad = 0;
    unsigned last = s[0];
    for (int i0 = 0; i0 < len; i0 += 32) {
        const int i = i0 + lane;
        const bool live = i < len;
        const unsigned cur = live ? s[i] : 0u;
        unsigned prev = __shfl_up_sync(full, cur, 1);
        if (lane == 0) prev = last;
        const int turn = live ? quarter(prev, cur) : 0;

        const unsigned up = __ballot_sync(full, turn == 1);
        const unsigned down = __ballot_sync(full, turn == 3);
        const unsigned slip = __ballot_sync(full, turn == 2);
        const unsigned below = (1u << lane) - 1u;
        const unsigned upto = below | (1u << lane);

        int dir = heading;
        const unsigned steps = (up | down) & below;
        if (steps) dir = ((up >> (31 - __clz(steps))) & 1u) ? 1 : -1;
        const unsigned slipUp = __ballot_sync(full, turn == 2 && dir > 0);
        const unsigned slipDown = __ballot_sync(full, turn == 2 && dir < 0);

        const int here = place + __popc(up & upto) - __popc(down & upto)
                       + 2 * (__popc(slipUp & upto) - __popc(slipDown & upto));
        if (live) p[i] = here;

        bad += __popc(slip);
        place = __shfl_sync(full, here, 31);
        last = __shfl_sync(full, cur, 31);
        const unsigned any = up | down;
        if (any) heading = ((up >> (31 - __clz(any))) & 1u) ? 1 : -1;
    }
    if (lane == 0) slips[row] = bad;
}
