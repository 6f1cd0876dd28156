// The last product of a residual block: trunk += gain * mish-like gate of (A B + bias), row-major.
// A is [m, k], B is [k, n]; the gate is z * clamp(z / 6 + 1/2, 0, 1).
#include <cuda_runtime.h>

#define TILE 16

__device__ __forceinline__ float gated(float z)
{
    return z * fminf(fmaxf(z * (1.0f / 6.0f) + 0.5f, 0.0f), 1.0f);
}

extern "C" __global__ void trunkgemm(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ bias,
                                     float* __restrict__ trunk, int m, int n, int k, float gain)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0.0f;
    for (int from = 0; from < k; from += TILE) {
        const int i = from + threadIdx.x, j = from + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < m && i < k ? a[(size_t)row * k + i] : 0.0f;
        right[threadIdx.y][threadIdx.x] = col < n && j < k ? b[(size_t)j * n + col] : 0.0f;
        __syncthreads();
        for (int l = 0; l < TILE; ++l)
            sum += left[threadIdx.y][l] * right[l][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        trunk[(size_t)row * n + col] += gain * gated(sum + bias[col]);
}
