// Simulates a gshare branch predictor: 64 two-bit saturating counters, indexed by the branch address
// exclusive-ored with the last six outcomes. One thread replays one trace.
#include <cstdint>

constexpr int ENTRIES = 64;

__global__ void gshare(const int* __restrict__ pc, const uint8_t* __restrict__ taken, int* __restrict__ misses,
                       int* __restrict__ history, int traces, int n) {
    int trace = blockIdx.x * blockDim.x + threadIdx.x;
    if (trace >= traces) return;
    const int* p = pc + (size_t)trace * n;
    const uint8_t* t = taken + (size_t)trace * n;

    uint8_t counter[ENTRIES];
    for (int e = 0; e < ENTRIES; ++e) counter[e] = 1;

    int h = 0;
    int missed = 0;
    for (int i = 0; i < n; ++i) {
        int slot = (p[i] ^ h) & (ENTRIES - 1);
        int outcome = t[i] != 0;
        int c = counter[slot];
        if ((c >= 2) != outcome) ++missed;
        if (outcome) {
            if (c < 3) ++c;
        } else {
            if (c > 0) --c;
        }
        counter[slot] = (uint8_t)c;
        h = ((h << 1) | outcome) & (ENTRIES - 1);
    }
    misses[trace] = missed;
    history[trace] = h;
}
