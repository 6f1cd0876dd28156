// Debounces logic inputs: the level of a channel changes only after `hold` samples in a row on the other side of zero.
#include <cuda_runtime.h>
#include <cstdint>

// clean: the debounced level of every sample; edges: its changes; last: sample of the latest change, -1 without one
__global__ void debounce(const int16_t* samples, uint8_t* clean, int* edges, int* last, int channels, int n, int hold)
{
    int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels)
        return;
    const int16_t* in = samples + (size_t)channel * n;
    uint8_t* out = clean + (size_t)channel * n;
    int level = 0;
    int run = 0;                // samples in a row that disagree with the level
    int changes = 0;
    int latest = -1;
    for (int t = 0; t < n; ++t) {
        int bit = in[t] > 0 ? 1 : 0;
        if (bit != level) {
            ++run;
            if (run >= hold) {
                level = bit;
                run = 0;
                ++changes;
                latest = t;
            }
        } else {
            run = 0;
        }
        out[t] = (uint8_t)level;
    }
    edges[channel] = changes;
    last[channel] = latest;
}
