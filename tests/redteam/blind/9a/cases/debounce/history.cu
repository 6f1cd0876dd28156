#include <cuda_runtime.h>
#include <cstdint>

// The latest samples in a shift register: the level turns when the newest hold of them are all on the other side.
__global__ void debounce(const int16_t* __restrict__ samples, uint8_t* __restrict__ clean, int* __restrict__ edges,
                         int* __restrict__ last, int channels, int n, int hold)
{
    int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels)
        return;
    const int16_t* in = samples + (size_t)channel * n;
    uint8_t* out = clean + (size_t)channel * n;
    int width = min(max(hold, 1), 64);
    unsigned long long mask = ~0ull >> (64 - width);
    unsigned long long history = 0;     // starts as if the input had been low for ever
    int level = 0, changes = 0, latest = -1;
    for (int t = 0; t < n; ++t) {
        history = history << 1 | (unsigned long long)(in[t] > 0);
        unsigned long long window = history & mask;
        int next = window == mask ? 1 : window == 0 ? 0 : level;
        if (next != level) {
            ++changes;
            latest = t;
        }
        level = next;
        out[t] = (uint8_t)level;
    }
    edges[channel] = changes;
    last[channel] = latest;
}
