// Ensemble forecasts against what was seen: mean distance of the members from the observation (mae), and the spread of the
// members among themselves, sum over pairs i < j of |x[i] - x[j]| divided by m * m. Their difference is the CRPS.
// The members are sorted (as integers that order like floats); the gap behind the k-th is crossed by k * (m - k) pairs.
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

__device__ __forceinline__ float value_of(unsigned u)
{
    return __uint_as_float(u ^ ((u >> 31) ? 0x80000000u : 0xffffffffu));
}

__global__ void __launch_bounds__(WIDTH) scores(const float* __restrict__ members, const float* __restrict__ seen,
                                               float* __restrict__ mae, float* __restrict__ spread, int m, int size)
{
    const float* row = members + (long long)blockIdx.x * m;
    float y = seen[blockIdx.x];
    extern __shared__ unsigned key[];
    float near = 0.0f, wide = 0.0f;
    for (int i = threadIdx.x; i < size; i += WIDTH) {
        unsigned u = 0xffffffffu;
        if (i < m) {
            float a = row[i];
            near += fabsf(a - y);
            u = __float_as_uint(a);
            u ^= (u >> 31) ? 0xffffffffu : 0x80000000u;
        }
        key[i] = u;
    }
    for (int run = 2; run <= size; run *= 2)
        for (int step = run / 2; step > 0; step /= 2) {
            __syncthreads();
            for (int i = threadIdx.x; i < size; i += WIDTH) {
                int k = i ^ step;
                if (k > i) {
                    unsigned a = key[i], b = key[k];
                    if ((a > b) == ((i & run) == 0)) { key[i] = b; key[k] = a; }
                }
            }
        }
    __syncthreads();
    for (int k = threadIdx.x; k + 1 < m; k += WIDTH)
        wide += (float)(k + 1) * (float)(m - 1 - k) * (value_of(key[k + 1]) - value_of(key[k]));
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
    scores<<<n, WIDTH, size * sizeof(unsigned)>>>(members, seen, mae, spread, m, size);
}
