#include <stdint.h>

// The votes are counted once. After that only the ballots of the candidate struck off are
// handed over to their next choice.
extern "C" __global__ void hustings(const uint8_t* choice, int* winner, int* rounds, int* tally,
                                    int districts, int ballots)
{
    __shared__ int votes[12];
    int d = blockIdx.x;
    const uint8_t* mine = choice + (size_t)d * ballots * 6;
    if (threadIdx.x < 12)
        votes[threadIdx.x] = 0;
    __syncthreads();
    for (int b = threadIdx.x; b < ballots; b += blockDim.x)
        atomicAdd(&votes[mine[(size_t)b * 6]], 1);
    __syncthreads();
    unsigned gone = 0;
    int round = 1, top;
    while (true) {
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
        __syncthreads();
        if (fewest > 0) {
            for (int b = threadIdx.x; b < ballots; b += blockDim.x) {
                const uint8_t* p = mine + (size_t)b * 6;
                int r = 0;
                while (r < 6 && ((gone >> p[r]) & 1))
                    r++;
                if (r == 6 || p[r] != low)
                    continue;
                while (r < 6 && (((gone >> p[r]) & 1) || p[r] == low))
                    r++;
                if (r < 6)
                    atomicAdd(&votes[p[r]], 1);
            }
        }
        gone |= 1u << low;
        if (threadIdx.x == 0)
            votes[low] = 0;
        round++;
        __syncthreads();
    }
    if (threadIdx.x < 12)
        tally[d * 12 + threadIdx.x] = votes[threadIdx.x];
    if (threadIdx.x == 0) {
        winner[d] = top;
        rounds[d] = round;
    }
}
