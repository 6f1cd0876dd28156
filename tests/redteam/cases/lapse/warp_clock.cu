// Decayed sums of irregularly timed samples. A warp per row scans 32 samples at a time. The clock of the tile is summed
// first; the decay between two samples is one exponential of the difference of their times.
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
        float clock = isfinite(g) ? fabsf(g) * rate : 1000.0f;      // exp(-1000) is 0
        for (int step = 1; step < 32; step *= 2) {
            float c0 = __shfl_up_sync(FULL, clock, step);
            if (lane >= step) clock += c0;
        }
        for (int step = 1; step < 32; step *= 2) {
            float v0 = __shfl_up_sync(FULL, v, step);
            float c0 = __shfl_up_sync(FULL, clock, step);
            if (lane >= step) v = fmaf(expf(c0 - clock), v0, v);
        }
        v = fmaf(expf(-clock), carry, v);
        if (i < len) y[at + i] = v;
        carry = __shfl_sync(FULL, v, 31);
    }
}

extern "C" void lapse(const float* x, const float* gap, float* y, int rows, int len, float rate)
{
    decayed<<<(rows + 3) / 4, 128>>>(x, gap, y, rows, len, rate);
}
