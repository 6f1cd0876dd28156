#include <stdint.h>

// A thread counts its ballots in bytes held in registers, eight candidates in one word and
// four in another, and adds them to the shared tally at the end: one atomic a candidate.
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
        unsigned long long low8 = 0;
        unsigned high4 = 0;
        for (int b = threadIdx.x; b < ballots; b += blockDim.x) {
            const uint16_t* p = (const uint16_t*)(mine + (size_t)b * 6);
            unsigned long long card = p[0] | ((unsigned long long)p[1] << 16) | ((unsigned long long)p[2] << 32);
            for (int r = 0; r < 6; r++, card >>= 8) {
                int c = (int)(card & 15);
                if (!((gone >> c) & 1)) {
                    if (c < 8)
                        low8 += 1ull << (8 * c);
                    else
                        high4 += 1u << (8 * (c - 8));
                    break;
                }
            }
        }
        for (int c = 0; c < 12; c++) {
            int v = c < 8 ? (int)((low8 >> (8 * c)) & 255) : (int)((high4 >> (8 * (c - 8))) & 255);
            if (v)
                atomicAdd(&votes[c], v);
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
        gone |= 1u << low;
        __syncthreads();
    }
    if (threadIdx.x < 12)
        tally[d * 12 + threadIdx.x] = votes[threadIdx.x];
    if (threadIdx.x == 0) {
        winner[d] = top;
        rounds[d] = round;
    }
}
