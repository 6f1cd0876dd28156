#include <cuda_runtime.h>
#include <cstdint>

// Words of 32 samples: where the word agrees with the level nothing happens, so it is only written.
__global__ void debounce(const int16_t* __restrict__ samples, uint8_t* __restrict__ clean, int* __restrict__ edges,
                         int* __restrict__ last, int channels, int n, int hold)
{
    int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels)
        return;
    const int16_t* in = samples + (size_t)channel * n;
    uint8_t* out = clean + (size_t)channel * n;
    int level = 0, run = 0, changes = 0, latest = -1;
    int t = 0;
    while (t < n) {
        int width = min(32, n - t);
        unsigned word = 0;
        for (int k = 0; k < width; ++k)
            word |= (unsigned)(in[t + k] > 0) << k;
        unsigned full = 0xffffffffu >> (32 - width);
        unsigned differs = word ^ (level ? full : 0u);
        if (differs == 0) {
            for (int k = 0; k < width; ++k)
                out[t + k] = (uint8_t)level;
        } else {
            for (int k = 0; k < width; ++k) {
                run = (int)(word >> k & 1u) != level ? run + 1 : 0;
                if (run > 0 && run >= hold) {
                    level ^= 1;
                    run = 0;
                    ++changes;
                    latest = t + k;
                }
                out[t + k] = (uint8_t)level;
            }
        }
        t += width;
    }
    edges[channel] = changes;
    last[channel] = latest;
}
