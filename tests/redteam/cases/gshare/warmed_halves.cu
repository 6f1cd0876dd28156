// Simulates a gshare branch predictor: 64 two-bit saturating counters, indexed by the branch address
// exclusive-ored with the last six outcomes. Two threads replay one trace, each one half of it; the second
// one trains its counters on the 256 branches ahead of its half.
#include <cstdint>

constexpr int ENTRIES = 64;
constexpr int TRAINING = 256;

__global__ void gshare(const int* __restrict__ pc, const uint8_t* __restrict__ taken, int* __restrict__ misses,
                       int* __restrict__ history, int traces, int n) {
    int both = blockIdx.x * blockDim.x + threadIdx.x;
    int trace = both >> 1;
    int later = both & 1;
    bool in = trace < traces;
    const int* p = pc + (size_t)(in ? trace : 0) * n;
    const uint8_t* t = taken + (size_t)(in ? trace : 0) * n;
    int half = n / 2;
    int from = later ? half : 0;
    int to = later ? n : half;
    int start = max(0, from - TRAINING);

    uint8_t counter[ENTRIES];
    for (int e = 0; e < ENTRIES; ++e) counter[e] = 1;

    int h = 0;
    for (int i = max(0, start - 6); i < start; ++i) h = ((h << 1) | (t[i] != 0)) & (ENTRIES - 1);
    int missed = 0;
    if (in) {
        for (int i = start; i < to; ++i) {
            int slot = (p[i] ^ h) & (ENTRIES - 1);
            int outcome = t[i] != 0;
            int c = counter[slot];
            missed += i >= from && (c >> 1) != outcome;
            counter[slot] = (uint8_t)(outcome ? min(c + 1, 3) : max(c - 1, 0));
            h = ((h << 1) | outcome) & (ENTRIES - 1);
        }
    }
    missed += __shfl_xor_sync(0xffffffffu, missed, 1);
    if (in && later) {
        misses[trace] = missed;
        history[trace] = h;
    }
}
