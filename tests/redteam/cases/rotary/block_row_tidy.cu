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

// One block of 256 threads per row, 256 readings at a time.
extern "C" __global__ void __launch_bounds__(256) rotary(const uint8_t* __restrict__ state, int* __restrict__ pos,
                                                         int* __restrict__ slips, int rows, int len)
{
    const unsigned full = 0xffffffffu;
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    const uint8_t* s = state + (size_t)blockIdx.x * len;
    int* p = pos + (size_t)blockIdx.x * len;
    __shared__ int course[8];       // the direction each warp hands on, 0 if it has no step
    __shared__ int gain[8];         // how far each warp goes
    __shared__ int faults[8];

    int place = 0, heading = 0, bad = 0;
    for (int i0 = 0; i0 < len; i0 += 256) {
        const int i = i0 + (int)threadIdx.x;
        const bool live = i < len;
        const int turn = live && i > 0 ? quarter(s[i - 1], s[i]) : 0;

        const unsigned up = __ballot_sync(full, turn == 1);
        const unsigned down = __ballot_sync(full, turn == 3);
        const unsigned slip = __ballot_sync(full, turn == 2);
        const unsigned any = up | down;
        if (lane == 0) course[warp] = any == 0 ? 0 : ((up >> (31 - __clz(any))) & 1u) ? 1 : -1;
        __syncthreads();

        int dir = heading;
        for (int w = 0; w < warp; ++w) if (course[w]) dir = course[w];
        const unsigned below = (1u << lane) - 1u;
        const unsigned upto = below | (1u << lane);
        const unsigned steps = any & below;
        if (steps) dir = ((up >> (31 - __clz(steps))) & 1u) ? 1 : -1;
        const unsigned slipUp = __ballot_sync(full, turn == 2 && dir > 0);
        const unsigned slipDown = __ballot_sync(full, turn == 2 && dir < 0);
        int here = __popc(up & upto) - __popc(down & upto) + 2 * (__popc(slipUp & upto) - __popc(slipDown & upto));
        if (lane == 31) gain[warp] = here;
        bad += __popc(slip);
        __syncthreads();

        here += place;
        for (int w = 0; w < 8; ++w) {
            if (w < warp) here += gain[w];
            place += gain[w];
            if (course[w]) heading = course[w];
        }
        if (live) p[i] = here;
    }
    if (lane == 0) faults[warp] = bad;
    __syncthreads();
    if (threadIdx.x == 0) {
        int sum = 0;
        for (int w = 0; w < 8; ++w) sum += faults[w];
        slips[blockIdx.x] = sum;
    }
}
