// Ensemble forecasts against what was seen: mean distance of the members from the observation (mae), and the spread of the
// members among themselves, sum over pairs i < j of |x[i] - x[j]| divided by m * m. Their difference is the CRPS.
// The members are sorted by a branch-free network of minima and maxima; the gap behind the k-th is crossed by k * (m - k)
// pairs.
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
                                               float* __restrict__ mae, float* __restrict__ spread, int m, int size)
{
    const float* row = members + (long long)blockIdx.x * m;
    float y = seen[blockIdx.x];
    extern __shared__ float value[];
    float near = 0.0f, wide = 0.0f;
    for (int i = threadIdx.x; i < size; i += WIDTH) {
        float a = INFINITY;
        if (i < m) {
            a = row[i];
            near += fabsf(a - y);
        }
        value[i] = a;
    }
    for (int run = 2; run <= size; run *= 2)
        for (int step = run / 2; step > 0; step /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < size; i += WIDTH) {
                int k = i ^ step;
                if (k > i) {
                    float low = fminf(value[i], value[k]), high = fmaxf(value[i], value[k]);
                    bool up = (i & run) == 0;
                    value[i] = up ? low : high;
                    value[k] = up ? high : low;
                }
            }
        }
    __syncthreads();
    for (int k = threadIdx.x; k + 1 < m; k += WIDTH)
        wide += (float)(k + 1) * (float)(m - 1 - k) * (value[k + 1] - value[k]);
    near = block_sum(near);
    wide = block_sum(wide);
    if (threadIdx.x == 0) {
        mae[blockIdx.x] = near / m;
        spread[blockIdx.x] = wide / ((float)m * (float)m);
    }
}

extern "C" void ogive(const float* members, const float* seen, float* mae, float* spread, int n, int m)
{
    int size = 1;
    while (size < m) size *= 2;
    scores<<<n, WIDTH, size * sizeof(float)>>>(members, seen, mae, spread, m, size);
}
