// Simulates a gshare branch predictor: 64 two-bit saturating counters, indexed by the branch address
// exclusive-ored with the last six outcomes. A warp replays one trace; each lane owns two counters.
#include <cstdint>

constexpr int ENTRIES = 64;

__global__ void gshare(const int* __restrict__ pc, const uint8_t* __restrict__ taken, int* __restrict__ misses,
                       int* __restrict__ history, int traces, int n) {
    int trace = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x & 31;
    if (trace >= traces) return;
    const int* p = pc + (size_t)trace * n;
    const uint8_t* t = taken + (size_t)trace * n;

    int lower = 1, upper = 1;
    int missed = 0;
    unsigned before = 0;   // the outcomes ahead of this chunk, the last one in bit 0
    for (int start = 0; start < n; start += 32) {
        int i = start + lane;
        bool in = i < n;
        int outcome = in ? t[i] != 0 : 0;
        unsigned bits = __ballot_sync(0xffffffffu, outcome);
        unsigned reversed = __brev(bits);   // the outcome of lane j in bit 31 - j
        // all outcomes up to lane - 1, the last one in bit 0
        unsigned long long line = ((unsigned long long)before << 32) | reversed;
        int h = (int)((line >> (32 - lane)) & (ENTRIES - 1));
        int slot = in ? ((p[i] ^ h) & (ENTRIES - 1)) : 0;
        int code = slot * 2 + outcome;
        int count = min(32, n - start);
        for (int j = 0; j < count; ++j) {
            int it = __shfl_sync(0xffffffffu, code, j);
            if (((it >> 1) & 31) == lane) {
                bool second = (it >> 6) & 1;
                int o = it & 1;
                int c = second ? upper : lower;
                missed += (c >> 1) != o;
                c = o ? min(c + 1, 3) : max(c - 1, 0);
                if (second) upper = c; else lower = c;
            }
        }
        before = reversed >> (32 - count);
    }
    missed = __reduce_add_sync(0xffffffffu, missed);
    if (lane == 0) {
        misses[trace] = missed;
        history[trace] = (int)(before & (ENTRIES - 1));
    }
}
