// Ensemble forecasts against what was seen: mean distance of the members from the observation (mae), and the spread of the
// members among themselves, sum over pairs i < j of |x[i] - x[j]| divided by m * m. Their difference is the CRPS.
#include <cuda_runtime.h>

#define WIDTH 128

__device__ __forceinline__ float block_sum(float v)
{
    __shared__ float part[WIDTH / 32];
    for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = v;
    __syncthreads();
    v = 0.0f;
    for (int w = 0; w < WIDTH / 32; ++w) v += part[w];
    return v;
}

__global__ void __launch_bounds__(WIDTH) scores(const float* __restrict__ members, const float* __restrict__ seen,
                                               float* __restrict__ mae, float* __restrict__ spread, int m)
{
    const float* row = members + (long long)blockIdx.x * m;
    float y = seen[blockIdx.x];
    float near = 0.0f, wide = 0.0f;
    for (int i = threadIdx.x; i < m; i += WIDTH) {
        float a = row[i], part = 0.0f;
        for (int j = i + 1; j < m; ++j) part += fabsf(a - row[j]);
        near += fabsf(a - y);
        wide += part;
    }
    near = block_sum(near);
    wide = block_sum(wide);
    if (threadIdx.x == 0) {
        mae[blockIdx.x] = near / m;
        spread[blockIdx.x] = wide / ((float)m * (float)m);
    }
}

extern "C" void ogive(const float* members, const float* seen, float* mae, float* spread, int n, int m)
{
    scores<<<n, WIDTH>>>(members, seen, mae, spread, m);
}
