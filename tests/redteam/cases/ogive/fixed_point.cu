// Ensemble forecasts against what was seen: mean distance of the members from the observation (mae), and the spread of the
// members among themselves, sum over pairs i < j of |x[i] - x[j]| divided by m * m. Their difference is the CRPS.
// Pairs are added up in 64-bit fixed point with 24 bits behind the point: exact and the same in any order.
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

#define SCALE 16777216.0f

__global__ void __launch_bounds__(WIDTH) scores(const float* __restrict__ members, const float* __restrict__ seen,
                                               float* __restrict__ mae, float* __restrict__ spread, int m)
{
    const float* row = members + (long long)blockIdx.x * m;
    float y = seen[blockIdx.x];
    __shared__ unsigned long long total;
    float near = 0.0f;
    long long wide = 0;
    for (int i = threadIdx.x; i < m; i += WIDTH) {
        float a = row[i];
        near += fabsf(a - y);
        for (int j = i + 1; j < m; ++j) wide += __float2ll_rn(fabsf(a - row[j]) * SCALE);
    }
    near = block_sum(near);
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    atomicAdd(&total, (unsigned long long)wide);
    __syncthreads();
    if (threadIdx.x == 0) {
        mae[blockIdx.x] = near / m;
        spread[blockIdx.x] = (float)((double)total / SCALE / ((double)m * m));
    }
}

extern "C" void ogive(const float* members, const float* seen, float* mae, float* spread, int n, int m)
{
    scores<<<n, WIDTH>>>(members, seen, mae, spread, m);
}
