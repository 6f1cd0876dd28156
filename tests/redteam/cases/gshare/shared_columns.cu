// Simulates a gshare branch predictor: 64 two-bit saturating counters, indexed by the branch address
// exclusive-ored with the last six outcomes. One thread replays one trace; sixteen counters to a word,
// a column of words of shared memory for each thread.
#include <cstdint>

constexpr int ENTRIES = 64;

__global__ void gshare(const int* __restrict__ pc, const uint8_t* __restrict__ taken, int* __restrict__ misses,
                       int* __restrict__ history, int traces, int n) {
    __shared__ unsigned words[4][128];
    int trace = blockIdx.x * blockDim.x + threadIdx.x;
    int column = threadIdx.x;
    if (trace >= traces) return;
    const int* p = pc + (size_t)trace * n;
    const uint8_t* t = taken + (size_t)trace * n;

    for (int e = 0; e < 4; ++e) words[e][column] = 0x55555555u;

    int h = 0;
    int missed = 0;
    for (int i = 0; i < n; ++i) {
        int slot = (p[i] ^ h) & (ENTRIES - 1);
        int outcome = t[i] != 0;
        unsigned word = words[slot & 3][column];
        int shift = (slot >> 2) * 2;
        int c = (int)((word >> shift) & 3u);
        missed += (c >> 1) ^ outcome;
        unsigned step = (c != (outcome ? 3 : 0)) ? 1u << shift : 0u;
        words[slot & 3][column] = outcome ? word + step : word - step;
        h = ((h << 1) | outcome) & (ENTRIES - 1);
    }
    misses[trace] = missed;
    history[trace] = h;
}
