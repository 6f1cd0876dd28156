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

// Each lane takes PER readings in a row. Steps up, steps down and slips of a lane are byte fields of one word, so that
// a single shuffle scan serves all three.
constexpr int PER = 2;

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
    for (int i0 = 0; i0 < len; i0 += 32 * PER) {
        const int i = i0 + lane * PER;
        unsigned cur[PER];
#pragma unroll
        for (int k = 0; k < PER; ++k) cur[k] = i + k < len ? s[i + k] : 0u;
        unsigned prev = __shfl_up_sync(full, cur[PER - 1], 1);
        if (lane == 0) prev = last;

        int turn[PER], mine = 0;                        // mine: the direction this lane hands on, 0 if it has no step
#pragma unroll
        for (int k = 0; k < PER; ++k) {
            turn[k] = i + k < len ? quarter(prev, cur[k]) : 0;
            prev = cur[k];
            if (turn[k] & 1) mine = 2 - turn[k];
        }
        const unsigned up = __ballot_sync(full, mine > 0);
        const unsigned down = __ballot_sync(full, mine < 0);
        const unsigned steps = (up | down) & ((1u << lane) - 1u);
        int dir = heading;
        if (steps) dir = ((up >> (31 - __clz(steps))) & 1u) ? 1 : -1;

        int move[PER];
        unsigned own = 0;                               // up, down, slips from the low byte on
#pragma unroll
        for (int k = 0; k < PER; ++k) {
            if (turn[k] & 1) dir = 2 - turn[k];
            move[k] = turn[k] == 2 ? 2 * dir : turn[k] & 1 ? dir : 0;
            own += move[k] > 0 ? (unsigned)move[k] : (unsigned)(-move[k]) << 8;
            if (turn[k] == 2) own += 1u << 16;
        }
        unsigned sum = own;
#pragma unroll
        for (int d = 1; d < 32; d <<= 1) {
            const unsigned left = __shfl_up_sync(full, sum, d);
            if (lane >= d) sum += left;
        }
        const unsigned ahead = sum - own;
        int here = place + (int)(ahead & 255u) - (int)((ahead >> 8) & 255u);
#pragma unroll
        for (int k = 0; k < PER; ++k) {
            here += move[k];
            if (i + k < len) p[i + k] = here;
        }

        const unsigned all = __shfl_sync(full, sum, 31);
        place += (int)(all & 255u) - (int)((all >> 8) & 255u);
        bad += (int)(all >> 16);
        last = __shfl_sync(full, cur[PER - 1], 31);
        const unsigned any = up | down;
        if (any) heading = ((up >> (31 - __clz(any))) & 1u) ? 1 : -1;
    }
    if (lane == 0) slips[row] = bad;
}
