#include <cstdint>

// One explicit step of the shallow ice approximation. Thickness below zero, or missing (NaN), is no ice. Ice flows
// down the surface between neighbours, and only out of a cell that has some; nothing crosses the rim. A bed that is
// missing has no slope.
__device__ inline float ice(float thickness) { return fmaxf(thickness, 0.0f); }

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
    const int top = blockIdx.y * 16, end = min(top + 16, h);
    if (x >= w || top >= h) return;
    size_t at = (size_t)top * w + x;
    float own = ice(thickness[at]), base = bed[at];
    float above = top > 0 ? inflow(own, base, ice(thickness[at - w]), bed[at - w]) : 0.0f;
    for (int y = top; y < end; ++y, at += w) {
        float sum = above, under = 0.0f, floor_under = 0.0f, below = 0.0f;
        if (y + 1 < h) {
            under = ice(thickness[at + w]);
            floor_under = bed[at + w];
            below = inflow(own, base, under, floor_under);
        }
        if (x > 0) sum += inflow(own, base, ice(thickness[at - 1]), bed[at - 1]);
        if (x + 1 < w) sum += inflow(own, base, ice(thickness[at + 1]), bed[at + 1]);
        sum += below;
        next[at] = fmaxf(own + step * balance[at] + rate * sum, 0.0f);
        above = -below;
        own = under;
        base = floor_under;
    }
}
