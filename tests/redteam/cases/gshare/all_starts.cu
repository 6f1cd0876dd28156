// Simulates a gshare branch predictor: 64 two-bit saturating counters, indexed by the branch address
// exclusive-ored with the last six outcomes. Two threads replay one trace: the second one its later half,
// from each of the four states that a counter may be in.
#include <cstdint>

constexpr int ENTRIES = 64;

__global__ void gshare(const int* __restrict__ pc, const uint8_t* __restrict__ taken, int* __restrict__ misses,
                       int* __restrict__ history, int traces, int n) {
    __shared__ uint8_t reached[ENTRIES][64];
    int both = blockIdx.x * blockDim.x + threadIdx.x;
    int trace = both >> 1;
    int later = both & 1;
    int column = threadIdx.x >> 1;
    int half = n / 2;
    bool in = trace < traces;
    const int* p = pc + (size_t)(in ? trace : 0) * n;
    const uint8_t* t = taken + (size_t)(in ? trace : 0) * n;

    int h = 0;
    int missed = 0;
    int fails[ENTRIES][4];
    uint8_t map[ENTRIES];
    if (in && !later) {
        for (int e = 0; e < ENTRIES; ++e) reached[e][column] = 1;
        for (int i = 0; i < half; ++i) {
            int slot = (p[i] ^ h) & (ENTRIES - 1);
            int outcome = t[i] != 0;
            int c = reached[slot][column];
            missed += (c >> 1) != outcome;
            reached[slot][column] = (uint8_t)(outcome ? min(c + 1, 3) : max(c - 1, 0));
            h = ((h << 1) | outcome) & (ENTRIES - 1);
        }
    }
    if (in && later) {
        for (int e = 0; e < ENTRIES; ++e) {
            map[e] = 0xe4;   // state s to state s
            for (int s = 0; s < 4; ++s) fails[e][s] = 0;
        }
        for (int i = max(0, half - 6); i < half; ++i) h = ((h << 1) | (t[i] != 0)) & (ENTRIES - 1);
        for (int i = half; i < n; ++i) {
            int slot = (p[i] ^ h) & (ENTRIES - 1);
            int outcome = t[i] != 0;
            int m = map[slot];
            int next = 0;
            for (int s = 0; s < 4; ++s) {
                int c = (m >> (2 * s)) & 3;
                fails[slot][s] += (c >> 1) != outcome;
                c = outcome ? min(c + 1, 3) : max(c - 1, 0);
                next |= c << (2 * s);
            }
            map[slot] = (uint8_t)next;
            h = ((h << 1) | outcome) & (ENTRIES - 1);
        }
    }
    __syncthreads();
    int first = __shfl_xor_sync(0xffffffffu, missed, 1);
    if (in && later) {
        missed = first;
        for (int e = 0; e < ENTRIES; ++e) missed += fails[e][reached[e][column]];
        misses[trace] = missed;
        history[trace] = h;
    }
}
