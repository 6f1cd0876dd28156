// Wake losses in a wind farm, wind along +x. Turbine j slows turbine i if it stands upwind of it (x_j < x_i) and i lies
// in its wake, a wedge that widens by one in eight: 8*|y_i - y_j| <= x_i - x_j. The deficit is drag_j / (1 + dx/64)^2;
// deficits add in squares. loss gets the root of the sum, seen the number of wakes a turbine stands in.
#include <cuda_runtime.h>

constexpr int TILE = 256;

__global__ void __launch_bounds__(TILE) wakes(const int* __restrict__ x, const int* __restrict__ y,
                                              const float* __restrict__ drag, float* __restrict__ loss,
                                              int* __restrict__ seen, int n)
{
    __shared__ float4 s[TILE];              // x, y, drag; distances to 32768, eightfold, are exact in a float
    const int i = blockIdx.x * TILE + threadIdx.x;
    const float xi = i < n ? (float)x[i] : 0.0f;
    const float yi = i < n ? (float)y[i] : 0.0f;
    float sum = 0.0f;
    int count = 0;
    for (int j0 = 0; j0 < n; j0 += TILE) {
        const int j = j0 + (int)threadIdx.x;
        if (j < n) s[threadIdx.x] = make_float4((float)x[j], (float)y[j], drag[j], 0.0f);
        __syncthreads();
        const int here = min(TILE, n - j0);
        for (int k = 0; k < here; ++k) {
            const float4 o = s[k];
            const float dx = xi - o.x;
            if (dx > 0.0f && fabsf(yi - o.y) * 8.0f <= dx) {
                const float f = 1.0f / (1.0f + dx * 0.015625f);
                const float g = o.z * f * f;
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
