#include <cstdint>

// One explicit step of the shallow ice approximation. Thickness below zero, or missing (NaN), is no ice. Ice flows
// down the surface between neighbours, and only out of a cell that has some; nothing crosses the rim. A bed that is
// missing has no slope.
__device__ inline float ice(float thickness) { return thickness < 0.0f ? 0.0f : thickness; }

// what flows from the second cell (thickness h1, bed b1) into the first
__device__ inline float inflow(float h0, float b0, float h1, float b1) {
    const float slope = (b1 + h1) - (b0 + h0);
    const float upstream = slope > 0.0f ? h1 : slope < 0.0f ? h0 : 0.0f;
    if (!(upstream > 0.0f)) return 0.0f;
    const float mean = 0.5f * (h0 + h1);
    return mean * mean * mean * mean * mean * (slope * slope) * slope;
}

__global__ void glacier(const float* thickness, const float* bed, const float* balance, float* next, int h, int w,
                        float rate, float step) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    const size_t at = (size_t)y * w + x;
    const float own = ice(thickness[at]), base = bed[at];
    float sum = 0.0f;
    if (x > 0) sum += inflow(own, base, ice(thickness[at - 1]), bed[at - 1]);
    if (x + 1 < w) sum += inflow(own, base, ice(thickness[at + 1]), bed[at + 1]);
    if (y > 0) sum += inflow(own, base, ice(thickness[at - w]), bed[at - w]);
    if (y + 1 < h) sum += inflow(own, base, ice(thickness[at + w]), bed[at + w]);
    next[at] = fmaxf(own + step * balance[at] + rate * sum, 0.0f);
}
