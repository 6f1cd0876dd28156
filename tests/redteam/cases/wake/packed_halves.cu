// Wake losses in a wind farm, wind along +x. Turbine j slows turbine i if it stands upwind of it (x_j < x_i) and i lies
// in its wake, a wedge that widens by one in eight: 8*|y_i - y_j| <= x_i - x_j. The deficit is drag_j / (1 + dx/64)^2;
// deficits add in squares. loss gets the root of the sum, seen the number of wakes a turbine stands in.
#include <cuda_runtime.h>

constexpr int TILE = 256;

// Coordinates, -16384 to 16384, as signed halves of a word.
constexpr int EDGE = 16384;
__device__ __forceinline__ unsigned short half(int v) { return (unsigned short)(short)v; }

__global__ void __launch_bounds__(TILE) wakes(const int* __restrict__ x, const int* __restrict__ y,
                                              const float* __restrict__ drag, float* __restrict__ loss,
                                              int* __restrict__ seen, int n)
{
    // two turbines to a word
    __shared__ unsigned sx[TILE / 2], sy[TILE / 2];
    __shared__ float sd[TILE];
    const int i = blockIdx.x * TILE + threadIdx.x;
    const unsigned xi = 0x10001u * half(i < n ? x[i] : 0);
    const unsigned yi = 0x10001u * half(i < n ? y[i] : 0);
    float sum = 0.0f;
    int count = 0;
    for (int j0 = 0; j0 < n; j0 += TILE) {
        const int j = j0 + (int)threadIdx.x;
        // beyond the end: at the lee edge, where it slows nobody
        const unsigned xj = half(j < n ? x[j] : EDGE), yj = half(j < n ? y[j] : 0);
        const unsigned xnext = __shfl_down_sync(0xffffffffu, xj, 1), ynext = __shfl_down_sync(0xffffffffu, yj, 1);
        if (threadIdx.x % 2 == 0) {
            sx[threadIdx.x / 2] = xj | xnext << 16;
            sy[threadIdx.x / 2] = yj | ynext << 16;
        }
        sd[threadIdx.x] = j < n ? drag[j] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE / 2; ++k) {
            const unsigned dx2 = __vsub2(xi, sx[k]);
            unsigned in = __vcmpgts2(dx2, 0u) & __vcmpleu2(__vabsdiffs2(yi, sy[k]), (dx2 >> 3) & 0x1fff1fffu);
            while (in) {
                const bool upper = (in & 0xffffu) == 0;
                const float dx = (float)(upper ? dx2 >> 16 : dx2 & 0xffffu);
                const float f = 1.0f / (1.0f + dx * 0.015625f);
                const float g = sd[2 * k + upper] * f * f;
                sum += g * g;
                ++count;
                in = upper ? 0u : in & 0xffff0000u;
            }
        }
        __syncthreads();
    }
    if (i < n) {
        loss[i] = sqrtf(sum);
        seen[i] = count;
    }
}

extern "C" void wake(const int* x, const int* y, const float* drag, float* loss, int* seen, int n)
{
    wakes<<<(n + TILE - 1) / TILE, TILE>>>(x, y, drag, loss, seen, n);
}
