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
    __shared__ float sideways[8][33], down[9][32];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int x = blockIdx.x * 32 + tx, y = blockIdx.y * 8 + ty;
    const bool inside = x < w && y < h;
    const size_t at = (size_t)y * w + x;
    float own = 0.0f;
    if (inside) {
        own = ice(thickness[at]);
        const float base = bed[at];
        // into a cell from its left and from its upper neighbour
        sideways[ty][tx] = x > 0 ? inflow(own, base, ice(thickness[at - 1]), bed[at - 1]) : 0.0f;
        down[ty][tx] = y > 0 ? inflow(own, base, ice(thickness[at - w]), bed[at - w]) : 0.0f;
        if (tx == 31 || x + 1 == w)
            sideways[ty][tx + 1] = x + 1 < w ? inflow(ice(thickness[at + 1]), bed[at + 1], own, base) : 0.0f;
        if (ty == 7 || y + 1 == h)
            down[ty + 1][tx] = y + 1 < h ? inflow(ice(thickness[at + w]), bed[at + w], own, base) : 0.0f;
    }
    __syncthreads();
    if (inside) {
        const float sum = sideways[ty][tx] - sideways[ty][tx + 1] + (down[ty][tx] - down[ty + 1][tx]);
        next[at] = fmaxf(own + step * balance[at] + rate * sum, 0.0f);
    }
}
