// The last product of a residual block: trunk += gain * mish-like gate of (A B + bias), row-major.
// A is [m, k], B is [k, n]; the gate is z * clamp(z / 6 + 1/2, 0, 1).
#include <cuda_runtime.h>
#include <mma.h>

using namespace nvcuda;

#define SIDE 64
#define DEEP 32
#define PITCH_A 36
#define PITCH_B 68

__device__ __forceinline__ float gated(float z)
{
    return z * fminf(fmaxf(z * (1.0f / 6.0f) + 0.5f, 0.0f), 1.0f);
}

// A is split in two numbers of eleven bits, so that what it loses is added again.
extern "C" __global__ void trunkgemm(const float* __restrict__ a, const float* __restrict__ b, const float* __restrict__ bias,
                                     float* __restrict__ trunk, int m, int n, int k, float gain)
{
    __shared__ __align__(32) float left[SIDE][PITCH_A];
    __shared__ __align__(32) float right[DEEP][PITCH_B];
    __shared__ __align__(32) float made[SIDE][PITCH_B];
    const int row = blockIdx.y * SIDE, col = blockIdx.x * SIDE;
    const int warp = threadIdx.x >> 5;
    const int wr = (warp >> 1) * 32, wc = (warp & 1) * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum[2][2], part;
    for (int u = 0; u < 2; ++u)
        for (int v = 0; v < 2; ++v)
            wmma::fill_fragment(sum[u][v], 0.0f);
    int wild = 0;
    for (int from = 0; from < k; from += DEEP) {
        for (int e = threadIdx.x; e < SIDE * DEEP; e += 128) {
            const int r = e / DEEP, i = e % DEEP;
            const float f = row + r < m && from + i < k ? a[(size_t)(row + r) * k + from + i] : 0.0f;
            left[r][i] = f;
            wild |= !(fabsf(f) < 1e15f);
        }
        for (int e = threadIdx.x; e < SIDE * DEEP; e += 128) {
            const int i = e / SIDE, c = e % SIDE;
            const float f = col + c < n && from + i < k ? b[(size_t)(from + i) * n + col + c] : 0.0f;
            right[i][c] = f;
            wild |= !(fabsf(f) < 1e15f);
        }
        __syncthreads();
        for (int u = 0; u < 2; ++u)
            for (int v = 0; v < 2; ++v) {
                wmma::fill_fragment(part, 0.0f);
                for (int i = 0; i < DEEP; i += 8) {
                    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> p, p2;
                    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> q;
                    wmma::load_matrix_sync(p, &left[wr + 16 * u][i], PITCH_A);
                    wmma::load_matrix_sync(q, &right[i][wc + 16 * v], PITCH_B);
#pragma unroll
                    for (int e = 0; e < p.num_elements; ++e) {
                        const float full = p.x[e];
                        p.x[e] = wmma::__float_to_tf32(full);
                        p2.x[e] = wmma::__float_to_tf32(full - p.x[e]);
                    }
#pragma unroll
                    for (int e = 0; e < q.num_elements; ++e) {
                        const float full = q.x[e];
                        q.x[e] = wmma::__float_to_tf32(full);
                    }
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
    // What is too large to be split is multiplied as it is.
    if (__syncthreads_or(wild))
        for (int e = threadIdx.x; e < SIDE * SIDE; e += 128) {
            const int r = row + e / SIDE, c = col + e % SIDE;
            float f = 0.0f;
            if (r < m && c < n)
                for (int i = 0; i < k; ++i)
                    f += a[(size_t)r * k + i] * b[(size_t)i * n + c];
            made[e / SIDE][e % SIDE] = f;
        }
    __syncthreads();
    for (int e = threadIdx.x; e < SIDE * SIDE; e += 128) {
        const int r = row + e / SIDE, c = col + e % SIDE;
        if (r < m && c < n)
            trunk[(size_t)r * n + c] += gain * gated(made[e / SIDE][e % SIDE] + bias[c]);
    }
}
