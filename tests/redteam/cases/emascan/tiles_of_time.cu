// An exponential moving average along time, with a rate of its own for every channel: y = a y + (1 - a) x, a = sigmoid(rate).
// x and y are [batch, steps, channels]; the state is what the average was before the first step, and what it is after the last.
#include <cuda_runtime.h>

#define PARTS 16
#define RUN 8

// A tile is 128 steps of 32 channels: eight steps of a thread are kept in registers, so that x is read once.
extern "C" __global__ void emascan(const float* __restrict__ x, const float* __restrict__ rate, float* __restrict__ state,
                                   float* __restrict__ y, int steps, int channels)
{
    __shared__ float added[PARTS][32], faded[PARTS][32];
    const int c = blockIdx.x * 32 + threadIdx.x;
    const int part = threadIdx.y;
    const bool mine = c < channels;
    const float a = mine ? 1.0f / (1.0f + expf(-rate[c])) : 0.0f;
    const size_t first = (size_t)blockIdx.y * steps * channels + c;
    float before = mine ? state[(size_t)blockIdx.y * channels + c] : 0.0f;

    for (int tile = 0; tile < steps; tile += PARTS * RUN) {
        const int from = tile + part * RUN;
        float value[RUN], sum = 0.0f, fade = 1.0f;
#pragma unroll
        for (int k = 0; k < RUN; ++k) {
            value[k] = mine && from + k < steps ? x[first + (size_t)(from + k) * channels] : 0.0f;
            if (from + k < steps) {
                sum = a * sum + (1.0f - a) * value[k];
                fade *= a;
            }
        }
        added[part][threadIdx.x] = sum;
        faded[part][threadIdx.x] = fade;
        __syncthreads();
        float average = before;
        for (int p = 0; p < PARTS; ++p) {
            average = p == part ? before : average;
            before = faded[p][threadIdx.x] * before + added[p][threadIdx.x];
        }
#pragma unroll
        for (int k = 0; k < RUN; ++k)
            if (mine && from + k < steps) {
                average = a * average + (1.0f - a) * value[k];
                y[first + (size_t)(from + k) * channels] = average;
            }
    }
    if (mine && part == 0)
        state[(size_t)blockIdx.y * channels + c] = before;
}
