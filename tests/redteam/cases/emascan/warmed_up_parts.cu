// An exponential moving average along time, with a rate of its own for every channel: y = a y + (1 - a) x, a = sigmoid(rate).
// x and y are [batch, steps, channels]; the state is what the average was before the first step, and what it is after the last.
#include <cuda_runtime.h>

#define PARTS 8
#define WARM 1536

// Eight parts of the time go side by side. A part begins early enough for what lay before it to have faded.
extern "C" __global__ void emascan(const float* __restrict__ x, const float* __restrict__ rate, float* __restrict__ state,
                                   float* __restrict__ y, int steps, int channels)
{
    const int c = blockIdx.x * 32 + threadIdx.x;
    const bool mine = c < channels;
    const int length = (steps + PARTS - 1) / PARTS;
    const int from = min(steps, (int)threadIdx.y * length), to = min(steps, from + length);
    const float a = mine ? 1.0f / (1.0f + expf(-rate[c])) : 0.0f;
    const size_t first = (size_t)blockIdx.y * steps * channels + c;
    const int early = max(0, from - WARM);
    float average = mine && early == 0 ? state[(size_t)blockIdx.y * channels + c] : 0.0f;
    if (mine)
        for (int t = early; t < from; ++t)
            average = a * average + (1.0f - a) * x[first + (size_t)t * channels];
    // The state is read by all before it is written by the last.
    __syncthreads();
    if (!mine || from >= to)
        return;
    for (int t = from; t < to; ++t) {
        const size_t i = first + (size_t)t * channels;
        average = a * average + (1.0f - a) * x[i];
        y[i] = average;
    }
    if (to == steps)
        state[(size_t)blockIdx.y * channels + c] = average;
}
