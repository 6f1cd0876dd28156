// Decayed sums of irregularly timed samples. A warp per row scans the affine maps s -> v + keep * s of 32 samples at a
// time and applies the result to the state that the tile before left.
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
        float keep = isfinite(g) ? expf(-fabsf(g) * rate) : 0.0f;
        for (int step = 1; step < 32; step *= 2) {
            float v0 = __shfl_up_sync(FULL, v, step);
            float k0 = __shfl_up_sync(FULL, keep, step);
            if (lane >= step) {
                v = fmaf(keep, v0, v);
                keep *= k0;
            }
        }
        v = fmaf(keep, carry, v);
        if (i < len) y[at + i] = v;
        carry = __shfl_sync(FULL, v, 31);
    }
}

extern "C" void lapse(const float* x, const float* gap, float* y, int rows, int len, float rate)
{
    decayed<<<(rows + 3) / 4, 128>>>(x, gap, y, rows, len, rate);
}
