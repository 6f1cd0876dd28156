#include <stdint.h>

// Run-off by groups, as election laws allow: candidates at the bottom whose votes together
// do not reach the next one above them are bound to be struck off one after the other, and
// are struck off together. Each counts as a round.
extern "C" __global__ void hustings(const uint8_t* choice, int* winner, int* rounds, int* tally,
                                    int districts, int ballots)
{
    __shared__ int votes[12];
    int d = blockIdx.x;
    const uint8_t* mine = choice + (size_t)d * ballots * 6;
    unsigned gone = 0;
    int round = 0, top;
    while (true) {
        round++;
        if (threadIdx.x < 12)
            votes[threadIdx.x] = 0;
        __syncthreads();
        for (int b = threadIdx.x; b < ballots; b += blockDim.x) {
            for (int r = 0; r < 6; r++) {
                int c = mine[(size_t)b * 6 + r];
                if (!((gone >> c) & 1)) {
                    atomicAdd(&votes[c], 1);
                    break;
                }
            }
        }
        __syncthreads();
        int counted = 0, most = -1, fewest = 0x7fffffff, low = -1;
        top = -1;
        for (int c = 0; c < 12; c++) {
            if ((gone >> c) & 1)
                continue;
            int v = votes[c];
            counted += v;
            if (v > most) {
                most = v;
                top = c;
            }
            if (v <= fewest) {
                fewest = v;
                low = c;
            }
        }
        if (2 * most > counted)
            break;
        // Together, the last of the field cannot overtake the next one above them.
        int sum = 0, out = 0;
        unsigned group = 0, struck = 0;
        int in_group = 0;
        for (unsigned rest = 0xfffu & ~gone & ~(1u << top); rest;) {
            int c = -1;
            for (int k = 0; k < 12; k++)
                if (((rest >> k) & 1) && (c < 0 || votes[k] <= votes[c]))
                    c = k;
            if (in_group > 0 && sum < votes[c]) {
                struck = group;
                out = in_group;
            }
            sum += votes[c];
            group |= 1u << c;
            in_group++;
            rest &= ~(1u << c);
        }
        if (out == 0) {
            struck = 1u << low;
            out = 1;
        }
        gone |= struck;
        round += out - 1;
        __syncthreads();
    }
    if (threadIdx.x < 12)
        tally[d * 12 + threadIdx.x] = votes[threadIdx.x];
    if (threadIdx.x == 0) {
        winner[d] = top;
        rounds[d] = round;
    }
}
