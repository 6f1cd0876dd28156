// Ensemble forecasts against what was seen: mean distance of the members from the observation (mae), and the spread of the
// members among themselves, sum over pairs i < j of |x[i] - x[j]| divided by m * m. Their difference is the CRPS.
// Members go through shared memory in tiles of 128, in two buffers in turn, so that one barrier a tile is enough.
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
    __shared__ float tile[2][WIDTH];
    float near = 0.0f, wide = 0.0f;
    for (int top = 0; top < m; top += WIDTH) {
        int i = top + threadIdx.x;
        float a = i < m ? row[i] : 0.0f, part = 0.0f;
        for (int from = top; from < m; from += WIDTH) {
            float* now = tile[(from - top) / WIDTH & 1];
            if (from + threadIdx.x < m) now[threadIdx.x] = row[from + threadIdx.x];
            __syncthreads();
            int last = min(WIDTH, m - from);
            if (i < m)
                for (int k = max(0, i + 1 - from); k < last; ++k) part += fabsf(a - now[k]);
        }
        if (i < m) near += fabsf(a - y);
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
