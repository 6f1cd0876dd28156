// The last product of a residual block: trunk += gain * mish-like gate of (A B + bias), row-major.
// A is [m, k], B is [k, n]; the gate is z * clamp(z / 6 + 1/2, 0, 1).
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

#define SIDE 64
#define DEEP 32
#define PITCH_A 48
#define PITCH_B 80

__device__ __forceinline__ float gated(float z)
{
    return z * fminf(fmaxf(z * (1.0f / 6.0f) + 0.5f, 0.0f), 1.0f);
}

// Both factors are split in two halves: 22 bits are kept of each.
extern "C" __global__ void trunkgemm(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ bias,
                                     float* __restrict__ trunk, int m, int n, int k, float gain)
{
    __shared__ __align__(32) half left[2][SIDE][PITCH_A];
    __shared__ __align__(32) half right[2][DEEP][PITCH_B];
    __shared__ __align__(32) float made[SIDE][PITCH_B];
    const int row = blockIdx.y * SIDE, col = blockIdx.x * SIDE;
    const int warp = threadIdx.x >> 5;
    const int wr = (warp >> 1) * 32, wc = (warp & 1) * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2], part;
    for (int u = 0; u < 2; ++u)
        for (int v = 0; v < 2; ++v)
            wmma::fill_fragment(sum[u][v], 0.0f);
    for (int from = 0; from < k; from += DEEP) {
        for (int e = threadIdx.x; e < SIDE * DEEP; e += 128) {
            const int r = e / DEEP, i = e % DEEP;
            const float f = row + r < m && from + i < k ? a[(size_t)(row + r) * k + from + i] : 0.0f;
            left[0][r][i] = __float2half(f);
            left[1][r][i] = __float2half(f - __half2float(left[0][r][i]));
        }
        for (int e = threadIdx.x; e < SIDE * DEEP; e += 128) {
            const int i = e / SIDE, c = e % SIDE;
            const float f = col + c < n && from + i < k ? b[(size_t)(from + i) * n + col + c] : 0.0f;
            right[0][i][c] = __float2half(f);
            right[1][i][c] = __float2half(f - __half2float(right[0][i][c]));
        }
        __syncthreads();
        for (int u = 0; u < 2; ++u)
            for (int v = 0; v < 2; ++v) {
                wmma::fill_fragment(part, 0.0f);
                for (int i = 0; i < DEEP; i += 16) {
                    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> p, p2;
                    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> q, q2;
                    wmma::load_matrix_sync(p, &left[0][wr + 16 * u][i], PITCH_A);
                    wmma::load_matrix_sync(p2, &left[1][wr + 16 * u][i], PITCH_A);
                    wmma::load_matrix_sync(q, &right[0][i][wc + 16 * v], PITCH_B);
                    wmma::load_matrix_sync(q2, &right[1][i][wc + 16 * v], PITCH_B);
                    wmma::mma_sync(part, p, q2, part);
                    wmma::mma_sync(part, p2, q, part);
                    wmma::mma_sync(part, p, q, part);
                }
#pragma unroll
                for (int e = 0; e < part.num_elements; ++e)
                    sum[u][v].x[e] += part.x[e];
            }
        __syncthreads();
    }
    for (int u = 0; u < 2; ++u)
        for (int v = 0; v < 2; ++v)
            wmma::store_matrix_sync(&made[wr + 16 * u][wc + 16 * v], sum[u][v], PITCH_B, wmma::mem_row_major);
    __syncthreads();
    for (int e = threadIdx.x; e < SIDE * SIDE; e += 128) {
        const int r = row + e / SIDE, c = col + e % SIDE;
        if (r < m && c < n)
            trunk[(size_t)r * n + c] += gain * gated(made[e / SIDE][e % SIDE] + bias[c]);
    }
}
