// Tie-up in shared memory (looms have at most 128 treadles); a thread an end.
#include <cuda_runtime.h>

#define TREADLES 128

__global__ void twill(const int* threading, const unsigned* treadling, const unsigned* tieup,
                      int* longest, int* changes, int ends, int picks, int treadles)
{
    __shared__ unsigned tie[TREADLES];
    for (int k = threadIdx.x; k < TREADLES; k += blockDim.x) tie[k] = k < treadles ? tieup[k] : 0u;
    __syncthreads();
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= ends) return;
    int shaft = threading[e] & 31;
    int best = 0, start = 0, turns = 0;
    unsigned face = tie[treadling[0] % (unsigned)treadles & (TREADLES - 1)] >> shaft & 1u;
    for (int p = 1; p < picks; ++p) {
        unsigned now = tie[treadling[p] % (unsigned)treadles & (TREADLES - 1)] >> shaft & 1u;
        if (now != face) {
            best = max(best, p - start);
            start = p;
            ++turns;
            face = now;
        }
    }
    longest[e] = max(best, picks - start);
    changes[e] = turns;
}
