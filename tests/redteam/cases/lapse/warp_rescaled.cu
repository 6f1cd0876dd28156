// Decayed sums of irregularly timed samples. A warp per row takes 32 samples at a time: every sample is grown to the
// start of the tile, a plain prefix sum adds them up, and the sum decays to the sample's own time: two exponentials
// a sample in place of one for each step of the scan.
#include <cuda_runtime.h>

#define FULL 0xffffffffu

__global__ void decayed(const float* __restrict__ x, const float* __restrict__ gap, float* __restrict__ y,
                        int rows, int len, float rate)
{
    int lane = threadIdx.x & 31;
    int r = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (r >= rows) return;
    long long at = (long long)r * len;
    float carry = 0.0f;
    for (int base = 0; base < len; base += 32) {
        int i = base + lane;
        float v = i < len ? x[at + i] : 0.0f;
        float g = i < len ? gap[at + i] : 0.0f;
        v = isfinite(v) ? v : 0.0f;
        float clock = isfinite(g) ? fabsf(g) * rate : 40.0f;        // exp(-40) is nothing
        for (int step = 1; step < 32; step *= 2) {
            float c0 = __shfl_up_sync(FULL, clock, step);
            if (lane >= step) clock += c0;
        }
        float grown = v * expf(clock);
        for (int step = 1; step < 32; step *= 2) {
            float u = __shfl_up_sync(FULL, grown, step);
            if (lane >= step) grown += u;
        }
        v = (grown + carry) * expf(-clock);
        if (i < len) y[at + i] = v;
        carry = __shfl_sync(FULL, v, 31);
    }
}

extern "C" void lapse(const float* x, const float* gap, float* y, int rows, int len, float rate)
{
    decayed<<<(rows + 3) / 4, 128>>>(x, gap, y, rows, len, rate);
}
