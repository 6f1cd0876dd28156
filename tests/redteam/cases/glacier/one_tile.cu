#include <cstdint>

// One explicit step of the shallow ice approximation. Thickness below zero, or missing (NaN), is no ice. Ice flows
// down the surface between neighbours, and only out of a cell that has some; nothing crosses the rim. A bed that is
// missing has no slope.
__device__ inline float ice(float thickness) { return fmaxf(thickness, 0.0f); }

// what flows from the second cell (thickness h1, surface s1) into the first
__device__ inline float inflow(float h0, float s0, float h1, float s1) {
    const float slope = s1 - s0;
    if (!(fmaxf(h0, h1) > 0.0f)) return 0.0f;
    const float mean = 0.5f * (h0 + h1);
    return mean * mean * mean * mean * mean * (slope * slope) * slope;
}

__global__ void glacier(const float* thickness, const float* bed, const float* balance, float* next, int h, int w,
                        float rate, float step) {
    __shared__ float tops[10][34], deep[10][34];
    const int x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 8 - 1;
    for (int i = threadIdx.y * 32 + threadIdx.x; i < 10 * 34; i += 256) {
        const int ty = i / 34, tx = i % 34, x = x0 + tx, y = y0 + ty;
        if (x >= 0 && x < w && y >= 0 && y < h) {
            deep[ty][tx] = ice(thickness[(size_t)y * w + x]);
            tops[ty][tx] = bed[(size_t)y * w + x] + deep[ty][tx];
        }
    }
    __syncthreads();
    const int tx = threadIdx.x + 1, ty = threadIdx.y + 1, x = x0 + tx, y = y0 + ty;
    if (x >= w || y >= h) return;
    const float own = deep[ty][tx], top = tops[ty][tx];
    // ice at the rim flows to where its mirror image would be: the slopes there are zero
    const float l = x > 0 ? deep[ty][tx - 1] : own, lt = x > 0 ? tops[ty][tx - 1] : top;
    const float r = x + 1 < w ? deep[ty][tx + 1] : own, rt = x + 1 < w ? tops[ty][tx + 1] : top;
    const float u = y > 0 ? deep[ty - 1][tx] : own, ut = y > 0 ? tops[ty - 1][tx] : top;
    const float d = y + 1 < h ? deep[ty + 1][tx] : own, dt = y + 1 < h ? tops[ty + 1][tx] : top;
    const float sum = inflow(own, top, l, lt) + inflow(own, top, r, rt) + inflow(own, top, u, ut) + inflow(own, top, d, dt);
    const size_t at = (size_t)y * w + x;
    next[at] = fmaxf(own + step * balance[at] + rate * sum, 0.0f);
}
