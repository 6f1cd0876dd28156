// The lift words come in tiles through shared memory; one comparison a pick.
#include <cuda_runtime.h>

__device__ inline unsigned lifted(const unsigned* treadling, const unsigned* tieup, int treadles, int pick)
{
    return tieup[treadling[pick] % (unsigned)treadles];
}

#define TILE 512

__global__ void twill(const int* threading, const unsigned* treadling, const unsigned* tieup,
                      int* longest, int* changes, int ends, int picks, int treadles)
{
    __shared__ unsigned lift[TILE];
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int shaft = e < ends ? threading[e] & 31 : 0;
    int best = 0, start = 0, turns = 0;
    unsigned face = 0;
    for (int p0 = 0; p0 < picks; p0 += TILE) {
        int len = min(TILE, picks - p0);
        __syncthreads();
        for (int k = threadIdx.x; k < len; k += blockDim.x) lift[k] = lifted(treadling, tieup, treadles, p0 + k);
        __syncthreads();
        if (p0 == 0) face = lift[0] >> shaft & 1u;
        for (int k = 0; k < len; ++k) {
            unsigned now = lift[k] >> shaft & 1u;
            if (now != face) {
                best = max(best, p0 + k - start);
                start = p0 + k;
                ++turns;
                face = now;
            }
        }
    }
    best = max(best, picks - start);
    if (e < ends) {
        longest[e] = best;
        changes[e] = turns;
    }
}
