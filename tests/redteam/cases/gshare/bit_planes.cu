// Simulates a gshare branch predictor: 64 two-bit saturating counters, indexed by the branch address
// exclusive-ored with the last six outcomes. One thread replays one trace; the counters are two words of bits.
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

    int h = 0;
    int missed = 0;
    for (int i = 0; i < n; ++i) {
        int slot = (p[i] ^ h) & (ENTRIES - 1);
        int outcome = t[i] != 0;
        uint64_t bit = 1ull << slot;
        uint64_t up = outcome ? bit : 0ull;
        uint64_t down = bit ^ up;
        missed += ((high >> slot) & 1ull) != (uint64_t)outcome;
        uint64_t grown = up & (high | low);        // 1 -> 2, 2 -> 3, 3 -> 3
        uint64_t fallen = down & ~(high & low);    // 0 -> 0, 1 -> 0, 2 -> 1
        uint64_t next_low = low;
        next_low = (next_low & ~up) | (up & (high | ~low));
        next_low = (next_low & ~down) | (down & (high & ~low));
        high = (high | grown) & ~fallen;
        low = next_low;
        h = ((h << 1) | outcome) & (ENTRIES - 1);
    }
    misses[trace] = missed;
    history[trace] = h;
}
