// Wake losses in a wind farm, wind along +x. Turbine j slows turbine i if it stands upwind of it (x_j < x_i) and i lies
// in its wake, a wedge that widens by one in eight: 8*|y_i - y_j| <= x_i - x_j. The deficit is drag_j / (1 + dx/64)^2;
// deficits add in squares. loss gets the root of the sum, seen the number of wakes a turbine stands in.
#include <cuda_runtime.h>

constexpr int TILE = 256;

__global__ void __launch_bounds__(TILE) wakes(const int* __restrict__ x, const int* __restrict__ y,
                                              const float* __restrict__ drag, float* __restrict__ loss,
                                              int* __restrict__ seen, int n)
{
    __shared__ int sx[TILE], sy[TILE];
    __shared__ float sd[TILE];
    const int i = blockIdx.x * TILE + threadIdx.x;
    const int xi = i < n ? x[i] : 0;
    const int yi = i < n ? y[i] : 0;
    float sum = 0.0f;
    int count = 0;
    for (int j0 = 0; j0 < n; j0 += TILE) {
        const int j = j0 + (int)threadIdx.x;
        // The last tile is filled up with turbines downwind of the whole farm. Nothing of theirs may ever be added up.
        sx[threadIdx.x] = j < n ? x[j] : 1 << 20;
        sy[threadIdx.x] = j < n ? y[j] : 0;
        sd[threadIdx.x] = j < n ? drag[j] : __int_as_float(0x7fc00000);
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < TILE; ++k) {
            const int dx = xi - sx[k];
            if (dx > 0 && 8 * abs(yi - sy[k]) <= dx) {
                const float f = 1.0f / (1.0f + (float)dx * 0.015625f);
                const float g = sd[k] * f * f;
                sum += g * g;
                ++count;
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
