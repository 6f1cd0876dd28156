#include <stdint.h>

// Two candidates share a word of the tally, which halves what has to be cleared and read.
extern "C" __global__ void hustings(const uint8_t* choice, int* winner, int* rounds, int* tally,
                                    int districts, int ballots)
{
    __shared__ unsigned pairs[6];
    int d = blockIdx.x;
    const uint8_t* mine = choice + (size_t)d * ballots * 6;
    unsigned gone = 0;
    int round = 0, top;
    while (true) {
        round++;
        if (threadIdx.x < 6)
            pairs[threadIdx.x] = 0;
        __syncthreads();
        for (int b = threadIdx.x; b < ballots; b += blockDim.x) {
            for (int r = 0; r < 6; r++) {
                int c = mine[(size_t)b * 6 + r];
                if (!((gone >> c) & 1)) {
                    atomicAdd(&pairs[c >> 1], 1u << (16 * (c & 1)));
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
            int v = (int)((pairs[c >> 1] >> (16 * (c & 1))) & 0xffffu);
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
        gone |= 1u << low;
        __syncthreads();
    }
    if (threadIdx.x < 12)
        tally[d * 12 + threadIdx.x] = (int)((pairs[threadIdx.x >> 1] >> (16 * (threadIdx.x & 1))) & 0xffffu);
    if (threadIdx.x == 0) {
        winner[d] = top;
        rounds[d] = round;
    }
}
