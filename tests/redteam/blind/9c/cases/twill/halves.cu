// Tiles in shared memory; run, longest float and changes packed in two words to save registers and selects.
#include <cuda_runtime.h>

__device__ inline unsigned lifted(const unsigned* treadling, const unsigned* tieup, int treadles, int pick)
{
    return tieup[treadling[pick] % (unsigned)treadles];
}

#define TILE 256

__global__ void twill(const int* threading, const unsigned* treadling, const unsigned* tieup,
                      int* longest, int* changes, int ends, int picks, int treadles)
{
    __shared__ unsigned lift[TILE];
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    int shaft = e < ends ? threading[e] & 31 : 0;
    unsigned packed = 0;                          // longest float << 16 | run so far
    unsigned turns = 0, face = 0;
    for (int p0 = 0; p0 < picks; p0 += TILE) {
        int len = min(TILE, picks - p0);
        __syncthreads();
        for (int k = threadIdx.x; k < len; k += blockDim.x) lift[k] = lifted(treadling, tieup, treadles, p0 + k);
        __syncthreads();
        if (p0 == 0) face = lift[0] >> shaft & 1u;
        for (int k = 0; k < len; ++k) {
            unsigned now = lift[k] >> shaft & 1u;
            if (now != face) {
                packed &= 0xffff0000u;
                ++turns;
                face = now;
            }
            ++packed;
            if ((packed & 0xffffu) > packed >> 16) packed += 0x10000u;
        }
    }
    if (e < ends) {
        longest[e] = (int)(packed >> 16);
        changes[e] = (int)turns;
    }
}
