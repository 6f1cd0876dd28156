// Tiles of 64 picks hold the changes of the lift word; tiles where the shaft does not move are skipped.
#include <cuda_runtime.h>

__device__ inline unsigned lifted(const unsigned* treadling, const unsigned* tieup, int treadles, int pick)
{
    return tieup[treadling[pick] % (unsigned)treadles];
}

#define TILE 64

__global__ void twill(const int* threading, const unsigned* treadling, const unsigned* tieup,
                      int* longest, int* changes, int ends, int picks, int treadles)
{
    __shared__ unsigned delta[TILE];
    __shared__ unsigned busy;                     // shafts that change anywhere in the tile
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int shaft = e < ends ? threading[e] & 31 : 0;
    int best = 0, start = 0, turns = 0;
    for (int p0 = 0; p0 < picks; p0 += TILE) {
        int len = min(TILE, picks - p0);
        __syncthreads();
        if (threadIdx.x == 0) busy = 0;
        __syncthreads();
        for (int k = threadIdx.x; k < len; k += blockDim.x) {
            unsigned now = lifted(treadling, tieup, treadles, p0 + k);
            unsigned before = p0 + k > 0 ? lifted(treadling, tieup, treadles, p0 + k - 1) : now;
            delta[k] = now ^ before;
            atomicOr(&busy, now ^ before);
        }
        __syncthreads();
        if (!(busy >> shaft & 1u)) continue;
        for (int k = 0; k < len; ++k) {
            if (delta[k] >> shaft & 1u) {
                best = max(best, p0 + k - start);
                start = p0 + k;
                ++turns;
            }
        }
    }
    best = max(best, picks - start);
    if (e < ends) {
        longest[e] = best;
        changes[e] = turns;
    }
}
