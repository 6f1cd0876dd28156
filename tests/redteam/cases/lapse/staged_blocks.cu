// Decayed sums of irregularly timed samples. A block takes 128 rows, 32 samples at a time, through shared memory: loads
// and stores run along the rows, in between
// the walk each thread owns a row. One barrier before the walk and one after it.
#include <cuda_runtime.h>

#define ROWS 128

__global__ void __launch_bounds__(ROWS) decayed(const float* __restrict__ x, const float* __restrict__ gap,
                                                float* __restrict__ y, int rows, int len, float rate)
{
    __shared__ float value[ROWS][33], pause[ROWS][33];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int first = blockIdx.x * ROWS;
    float state = 0.0f;
    for (int base = 0; base < len; base += 32) {
        for (int s = warp * 32; s < warp * 32 + 32; ++s) {
            bool inside = first + s < rows && base + lane < len;
            long long at = (long long)(first + s) * len + base + lane;
            value[s][lane] = inside ? x[at] : 0.0f;
            pause[s][lane] = inside ? gap[at] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < 32; ++i) {
            float v = value[threadIdx.x][i], g = pause[threadIdx.x][i];
            v = isfinite(v) ? v : 0.0f;
            float keep = isfinite(g) ? expf(-fabsf(g) * rate) : 0.0f;
            state = v + keep * state;
            value[threadIdx.x][i] = state;
        }
        __syncthreads();
        for (int s = warp; s < ROWS; s += 4)
            if (first + s < rows && base + lane < len)
                y[(long long)(first + s) * len + base + lane] = value[s][lane];
    }
}

extern "C" void lapse(const float* x, const float* gap, float* y, int rows, int len, float rate)
{
    decayed<<<(rows + ROWS - 1) / ROWS, ROWS>>>(x, gap, y, rows, len, rate);
}
