// An exponential moving average along time, with a rate of its own for every channel: y = a y + (1 - a) x, a = sigmoid(rate).
// x and y are [batch, steps, channels]; the state is what the average was before the first step, and what it is after the last.
#include <cuda_runtime.h>

#define PARTS 16

// Sixteen parts of the time go side by side: each is run from zero for what it adds, and again from where it begins.
extern "C" __global__ void emascan(const float* __restrict__ x, const float* __restrict__ rate, float* __restrict__ state,
                                   float* __restrict__ y, int steps, int channels)
{
    __shared__ float added[PARTS][32];
    const int c = blockIdx.x * 32 + threadIdx.x;
    const int part = threadIdx.y;
    const bool mine = c < channels;
    const int length = (steps + PARTS - 1) / PARTS;
    const int from = min(steps, part * length), to = min(steps, from + length);
    const float a = mine ? 1.0f / (1.0f + expf(-rate[c])) : 0.0f;
    const size_t first = (size_t)blockIdx.y * steps * channels + c;

    // The state is read by all before it is written by the last.
    float average = mine ? state[(size_t)blockIdx.y * channels + c] : 0.0f;
    float sum = 0.0f;
    if (mine)
        for (int t = from; t < to; ++t)
            sum = a * sum + (1.0f - a) * x[first + (size_t)t * channels];
    added[part][threadIdx.x] = sum;
    __syncthreads();
    if (!mine)
        return;
    for (int p = 0; p < part; ++p) {
        const int many = min(steps, (p + 1) * length) - min(steps, p * length);
        // What is infinite stays so, however far it is damped.
        const float kept = isinf(average) && a > 0.0f ? average : average * powf(a, (float)many);
        average = many ? kept + added[p][threadIdx.x] : average;
    }
    for (int t = from; t < to; ++t) {
        const size_t i = first + (size_t)t * channels;
        average = a * average + (1.0f - a) * x[i];
        y[i] = average;
    }
    if (from < to && to == steps)
        state[(size_t)blockIdx.y * channels + c] = average;
}
