// Tiles of 32 x 32 picks turned by ballots: a word a shaft and 32 picks, whose set bits are the changes.
#include <cuda_runtime.h>

__device__ inline unsigned lifted(const unsigned* treadling, const unsigned* tieup, int treadles, int pick)
{
    return tieup[treadling[pick] % (unsigned)treadles];
}

__global__ void twill(const int* threading, const unsigned* treadling, const unsigned* tieup,
                      int* longest, int* changes, int ends, int picks, int treadles)
{
    __shared__ unsigned turned[32][33];          // [group of 32 picks][shaft], bit k: face changes at pick k
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int shaft = e < ends ? threading[e] & 31 : 0;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    int best = 0, start = 0, turns = 0;
    for (int p0 = 0; p0 < picks; p0 += 1024) {
        __syncthreads();
        for (int g = warp; g < 32; g += warps) {
            int p = p0 + 32 * g + lane;
            unsigned delta = 0;
            if (p > 0 && p < picks)
                delta = lifted(treadling, tieup, treadles, p) ^ lifted(treadling, tieup, treadles, p - 1);
            for (int s = 0; s < 32; ++s) {
                unsigned column = __ballot_sync(0xffffffffu, delta >> s & 1u);
                if (lane == s) turned[g][s] = column;
            }
        }
        __syncthreads();
        for (int g = 0; g < 32; ++g) {
            unsigned mask = turned[g][shaft];
            turns += __popc(mask);
            while (mask) {
                int p = p0 + 32 * g + __ffs((int)mask) - 1;
                best = max(best, p - start);
                start = p;
                mask &= mask - 1;
            }
        }
    }
    best = max(best, picks - start);
    if (e < ends) {
        longest[e] = best;
        changes[e] = turns;
    }
}
