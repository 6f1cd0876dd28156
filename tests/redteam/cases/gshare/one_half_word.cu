// Simulates a gshare branch predictor: 64 two-bit saturating counters, indexed by the branch address
// exclusive-ored with the last six outcomes. One thread replays one trace; history and misses share a half word.
#include <cstdint>

constexpr int ENTRIES = 64;

__global__ void gshare(const int* __restrict__ pc, const uint8_t* __restrict__ taken, int* __restrict__ misses,
                       int* __restrict__ history, int traces, int n) {
    int trace = blockIdx.x * blockDim.x + threadIdx.x;
    if (trace >= traces) return;
    const int* p = pc + (size_t)trace * n;
    const uint8_t* t = taken + (size_t)trace * n;

    uint64_t high = 0;
    uint64_t low = ~0ull;

    uint16_t state = 0;   // six bits of history, misses above
    for (int i = 0; i < n; ++i) {
        int slot = (p[i] ^ state) & (ENTRIES - 1);
        int outcome = t[i] != 0;
        int c = (int)((high >> slot) & 1) * 2 + (int)((low >> slot) & 1);
        int miss = (c >> 1) != outcome;
        c = outcome ? min(c + 1, 3) : max(c - 1, 0);
        high = (high & ~(1ull << slot)) | ((uint64_t)(c >> 1) << slot);
        low = (low & ~(1ull << slot)) | ((uint64_t)(c & 1) << slot);
        int h = ((state << 1) | outcome) & (ENTRIES - 1);
        state = (uint16_t)(((state >> 6) + miss) << 6 | h);
    }
    misses[trace] = state >> 6;
    history[trace] = state & (ENTRIES - 1);
}
