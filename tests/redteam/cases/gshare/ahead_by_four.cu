// Simulates a gshare branch predictor: 64 two-bit saturating counters, indexed by the branch address
// exclusive-ored with the last six outcomes. One thread replays one trace; the counters of four branches are
// read ahead of their updates, and a counter that the branch before has changed is handed on.
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
    for (int i = 0; i < n; i += 4) {
        int slot[4], outcome[4], c[4];
        int count = min(4, n - i);
        for (int k = 0; k < count; ++k) {
            slot[k] = (p[i + k] ^ h) & (ENTRIES - 1);
            outcome[k] = t[i + k] != 0;
            h = ((h << 1) | outcome[k]) & (ENTRIES - 1);
            c[k] = counter[slot[k]];
        }
        for (int k = 0; k < count; ++k) {
            if (k > 0 && slot[k] == slot[k - 1]) c[k] = c[k - 1];
            if ((c[k] >= 2) != outcome[k]) ++missed;
            c[k] = outcome[k] ? min(c[k] + 1, 3) : max(c[k] - 1, 0);
            counter[slot[k]] = (uint8_t)c[k];
        }
    }
    misses[trace] = missed;
    history[trace] = h;
}
