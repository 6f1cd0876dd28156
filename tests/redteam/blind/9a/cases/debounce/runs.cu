#include <cuda_runtime.h>
#include <cstdint>

// Warp a channel: 32 samples become a word by a ballot, and the word is walked by its runs.
__global__ void debounce(const int16_t* __restrict__ samples, uint8_t* __restrict__ clean, int* __restrict__ edges,
                         int* __restrict__ last, int channels, int n, int hold)
{
    int lane = threadIdx.x & 31;
    int channel = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (channel >= channels)
        return;
    const int16_t* in = samples + (size_t)channel * n;
    uint8_t* out = clean + (size_t)channel * n;
    int level = 0, run = 0, changes = 0, latest = -1;
    for (int t0 = 0; t0 < n; t0 += 32) {
        int t = t0 + lane;
        int width = min(32, n - t0);
        unsigned word = __ballot_sync(0xffffffffu, t < n && in[t] > 0);
        unsigned cleaned = 0;
        int at = 0;
        while (at < width) {
            unsigned differs = (level ? ~word : word) >> at;        // ones: disagree with the level
            int rest = width - at;
            if (differs & 1u) {
                int ones = ~differs ? __ffs(~differs) - 1 : 32;
                int len = min(ones, rest);
                int need = hold > run ? hold - run : 1;
                if (len >= need) {
                    // agrees until the level turns with the sample at + need - 1
                    if (level)
                        cleaned |= (need > 1 ? (0xffffffffu >> (32 - (need - 1))) : 0u) << at;
                    at += need - 1;
                    level ^= 1;
                    if (level)
                        cleaned |= 1u << at;
                    ++changes;
                    latest = t0 + at;
                    run = 0;
                    ++at;
                } else {
                    if (level)
                        cleaned |= (0xffffffffu >> (32 - len)) << at;
                    run += len;
                    at += len;
                }
            } else {
                int zeros = differs ? __ffs(differs) - 1 : 32;
                int len = min(zeros, rest);
                if (level)
                    cleaned |= (0xffffffffu >> (32 - len)) << at;
                run = 0;
                at += len;
            }
        }
        if (t < n)
            out[t] = (uint8_t)(cleaned >> lane & 1u);
    }
    if (lane == 0) {
        edges[channel] = changes;
        last[channel] = latest;
    }
}
