// An exponential moving average along time, with a rate of its own for every channel: y = a y + (1 - a) x, a = sigmoid(rate).
// x and y are [batch, steps, channels]; the state is what the average was before the first step, and what it is after the last.
#include <cuda_runtime.h>

extern "C" __global__ void emascan(const float* __restrict__ x, const float* __restrict__ rate, float* __restrict__ state,
                                   float* __restrict__ y, int steps, int channels)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= channels)
        return;
    const float a = 1.0f / (1.0f + expf(-rate[c]));
    const size_t first = (size_t)blockIdx.y * steps * channels + c;
    float average = state[(size_t)blockIdx.y * channels + c];
    for (int t = 0; t < steps; ++t) {
        const size_t i = first + (size_t)t * channels;
        average = a * average + (1.0f - a) * x[i];
        y[i] = average;
    }
    state[(size_t)blockIdx.y * channels + c] = average;
}
