// Weaving: the longest float (stretch of picks on the same face of the cloth) and the number of face changes
// of every warp end, from threading, tie-up and treadling.
#include <cuda_runtime.h>

// bit s of the answer: shaft s is lifted at this pick
__device__ inline unsigned lifted(const unsigned* treadling, const unsigned* tieup, int treadles, int pick)
{
    return tieup[treadling[pick] % (unsigned)treadles];
}

__global__ void twill(const int* threading, const unsigned* treadling, const unsigned* tieup,
                      int* longest, int* changes, int ends, int picks, int treadles)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= ends) return;
    int shaft = threading[e] & 31;

    int best = 0, run = 0, turns = 0;
    unsigned face = 0;
    for (int p = 0; p < picks; ++p) {
        unsigned now = lifted(treadling, tieup, treadles, p) >> shaft & 1u;
        if (p > 0 && now != face) {
            ++turns;
            run = 0;
        }
        face = now;
        ++run;
        if (run > best) best = run;
    }
    longest[e] = best;
    changes[e] = turns;
}
