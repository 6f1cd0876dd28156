// Rank-k update of a symmetric matrix, of which the lower triangle is kept: C = alpha A A' + beta C.
// As in BLAS, C is not read where beta is zero, and what is above the diagonal is not touched.
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

#define TILE 64
#define DEEP 32
#define PITCH 40

__global__ void syrk(const half* a, float* c, int n, int k, float alpha, float beta) {
    __shared__ __align__(32) half left[TILE * PITCH], right[TILE * PITCH];
    __shared__ __align__(32) float whole[TILE * (TILE + 4)];
    if (blockIdx.x > blockIdx.y) return;
    int tid = threadIdx.x, warp = tid / 32;
    int top = blockIdx.y * TILE, from = blockIdx.x * TILE;
    int down = warp / 2 * 32, across = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.0f);
    for (int base = 0; base < k; base += DEEP) {
        for (int i = tid; i < TILE * DEEP; i += 128) {
            int r = i / DEEP, d = i % DEEP;
            bool inside = base + d < k;
            left[r * PITCH + d] = inside && top + r < n ? a[(size_t)(top + r) * k + base + d] : __float2half(0.0f);
            right[r * PITCH + d] = inside && from + r < n ? a[(size_t)(from + r) * k + base + d] : __float2half(0.0f);
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEEP; d += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> p[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> q[2];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                wmma::load_matrix_sync(p[i], left + (down + 16 * i) * PITCH + d, PITCH);
                wmma::load_matrix_sync(q[i], right + (across + 16 * i) * PITCH + d, PITCH);
            }
#pragma unroll
            for (int i = 0; i < 2; ++i)
#pragma unroll
                for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], p[i], q[j], sum[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            wmma::store_matrix_sync(whole + (down + 16 * i) * (TILE + 4) + across + 16 * j, sum[i][j], TILE + 4, wmma::mem_row_major);
    __syncthreads();
    for (int i = tid; i < TILE * TILE; i += 128) {
        int r = i / TILE, s = i % TILE, row = top + r, col = from + s;
        if (row < n && col <= row) {
            size_t at = (size_t)row * n + col;
            float value = alpha * whole[r * (TILE + 4) + s];
            c[at] = beta == 0.0f ? value : value + beta * c[at];
        }
    }
}
