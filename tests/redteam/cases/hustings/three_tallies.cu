#include <stdint.h>

// Three tallies take turns, so that one barrier a round is enough: while one is counted in,
// the next one is cleared.
extern "C" __global__ void hustings(const uint8_t* choice, int* winner, int* rounds, int* tally,
                                    int districts, int ballots)
{
    __shared__ int votes[3][12];
    int d = blockIdx.x;
    const uint8_t* mine = choice + (size_t)d * ballots * 6;
    unsigned gone = 0;
    int round = 0, now = 0, top;
    if (threadIdx.x < 12)
        votes[1][threadIdx.x] = 0;
    __syncthreads();
    while (true) {
        round++;
        now = now == 2 ? 0 : now + 1;
        if (threadIdx.x < 12)
            votes[now == 2 ? 0 : now + 1][threadIdx.x] = 0;
        for (int b = threadIdx.x; b < ballots; b += blockDim.x) {
            for (int r = 0; r < 6; r++) {
                int c = mine[(size_t)b * 6 + r];
                if (!((gone >> c) & 1)) {
                    atomicAdd(&votes[now][c], 1);
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
            int v = votes[now][c];
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
    }
    if (threadIdx.x < 12)
        tally[d * 12 + threadIdx.x] = votes[now][threadIdx.x];
    if (threadIdx.x == 0) {
        winner[d] = top;
        rounds[d] = round;
    }
}
