// Each block does the 32 shafts once (8 segments of the picks, joined in shared memory); ends only look up.
#include <cuda_runtime.h>

__device__ inline unsigned lifted(const unsigned* treadling, const unsigned* tieup, int treadles, int pick)
{
    return tieup[treadling[pick] % (unsigned)treadles];
}

#define SEGS 8

__global__ void twill(const int* threading, const unsigned* treadling, const unsigned* tieup,
                      int* longest, int* changes, int ends, int picks, int treadles)
{
    __shared__ int s_head[SEGS][32], s_tail[SEGS][32], s_best[SEGS][32], s_turns[SEGS][32];
    __shared__ unsigned s_first[SEGS], s_last[SEGS];
    __shared__ int s_longest[32], s_changes[32];
    int shaft = threadIdx.x & 31, seg = threadIdx.x >> 5;          // 256 threads: a warp a segment
    int len = (picks + SEGS - 1) / SEGS;
    int p0 = seg * len < picks ? seg * len : picks;
    int p1 = p0 + len < picks ? p0 + len : picks;
    int best = 0, run = 0, turns = 0, head = 0;
    unsigned face = 0, word = 0;
    for (int p = p0; p < p1; ++p) {
        word = lifted(treadling, tieup, treadles, p);
        unsigned now = word >> shaft & 1u;
        if (p == p0) {
            if (shaft == 0) s_first[seg] = word;
        } else if (now != face) {
            if (turns == 0) head = run;
            ++turns;
            run = 0;
        }
        face = now;
        ++run;
        if (run > best) best = run;
    }
    if (turns == 0) head = run;
    if (shaft == 0) s_last[seg] = word;
    s_head[seg][shaft] = head;
    s_tail[seg][shaft] = run;
    s_best[seg][shaft] = best;
    s_turns[seg][shaft] = turns;
    __syncthreads();
    if (seg == 0) {
        for (int k = 1; k < SEGS && k * len < picks; ++k) {
            bool joined = ((s_last[k - 1] ^ s_first[k]) >> shaft & 1u) == 0;
            if (joined) {
                int through = run + s_head[k][shaft];
                if (through > best) best = through;
            } else {
                ++turns;
            }
            if (s_best[k][shaft] > best) best = s_best[k][shaft];
            if (s_turns[k][shaft] == 0 && joined) run += s_tail[k][shaft];
            else run = s_tail[k][shaft];
            turns += s_turns[k][shaft];
        }
        s_longest[shaft] = best;
        s_changes[shaft] = turns;
    }
    __syncthreads();
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < ends; e += gridDim.x * blockDim.x) {
        longest[e] = s_longest[threading[e] & 31];
        changes[e] = s_changes[threading[e] & 31];
    }
}
