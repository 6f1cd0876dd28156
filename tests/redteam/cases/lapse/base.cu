// Decayed sums of irregularly timed samples: y[i] = x[i] + y[i-1] * exp(-|gap[i]| * rate), row by row. gap[i] is the
// time since the sample before. A sample that is not finite counts as missing (0); a gap that is not finite
// forgets the past.
#include <cuda_runtime.h>

__global__ void decayed(const float* __restrict__ x, const float* __restrict__ gap, float* __restrict__ y,
                        int rows, int len, float rate)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    long long at = (long long)r * len;
    float state = 0.0f;
    for (int i = 0; i < len; ++i) {
        float v = x[at + i], g = gap[at + i];
        v = isfinite(v) ? v : 0.0f;
        float keep = isfinite(g) ? expf(-fabsf(g) * rate) : 0.0f;
        state = v + keep * state;
        y[at + i] = state;
    }
}

extern "C" void lapse(const float* x, const float* gap, float* y, int rows, int len, float rate)
{
    decayed<<<(rows + 63) / 64, 64>>>(x, gap, y, rows, len, rate);
}
