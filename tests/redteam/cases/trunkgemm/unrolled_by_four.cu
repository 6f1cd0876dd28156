// The last product of a residual block: trunk += gain * mish-like gate of (A B + bias), row-major.
// A is [m, k], B is [k, n]; the gate is z * clamp(z / 6 + 1/2, 0, 1).
#include <cuda_runtime.h>

#define SIDE 128
#define DEEP 32
#define PITCH 132

__device__ __forceinline__ float gated(float z)
{
    return z * fminf(fmaxf(z * (1.0f / 6.0f) + 0.5f, 0.0f), 1.0f);
}

// A block has 128 x 128 results, a thread 8 x 8 of them.
extern "C" __global__ void trunkgemm(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ bias,
                                     float* __restrict__ trunk, int m, int n, int k, float gain)
{
    __shared__ float left[DEEP * PITCH], right[DEEP * PITCH]; // [DEEP][PITCH], the rows of A stand
    const int row = blockIdx.y * SIDE, col = blockIdx.x * SIDE;
    const int ty = threadIdx.x >> 4, tx = threadIdx.x & 15;
    float sum[8][8] = {};
    for (int from = 0; from < k; from += DEEP) {
        for (int e = threadIdx.x; e < SIDE * DEEP; e += 256) {
            const int r = e / DEEP, i = e % DEEP;
            left[i * PITCH + r] = row + r < m && from + i < k ? a[(size_t)(row + r) * k + from + i] : 0.0f;
        }
        for (int e = threadIdx.x; e < SIDE * DEEP; e += 256) {
            const int i = e / SIDE, c = e % SIDE;
            right[i * PITCH + c] = col + c < n && from + i < k ? b[(size_t)(from + i) * n + col + c] : 0.0f;
        }
        __syncthreads();
        const int deep = min(DEEP, k - from) & ~3;
#pragma unroll 4
        for (int i = 0; i < deep; ++i) {
            float p[8], q[8];
#pragma unroll
            for (int u = 0; u < 8; ++u) {
                p[u] = left[i * PITCH + ty * 8 + u];
                q[u] = right[i * PITCH + tx + 16 * u];
            }
#pragma unroll
            for (int u = 0; u < 8; ++u)
#pragma unroll
                for (int v = 0; v < 8; ++v)
                    sum[u][v] += p[u] * q[v];
        }
        __syncthreads();
    }
#pragma unroll
    for (int u = 0; u < 8; ++u)
#pragma unroll
        for (int v = 0; v < 8; ++v) {
            const int r = row + ty * 8 + u, c = col + tx + 16 * v;
            if (r < m && c < n)
                trunk[(size_t)r * n + c] += gain * gated(sum[u][v] + bias[c]);
        }
}
