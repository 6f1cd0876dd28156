// Rank-k update of a symmetric matrix, of which the lower triangle is kept: C = alpha A A' + beta C.
// As in BLAS, C is not read where beta is zero, and what is above the diagonal is not touched.
#include <cuda_fp16.h>
// Tiles of 64 x 64, sixteen elements to a thread; those above the diagonal have nothing to do.

#define TILE 64
#define DEEP 16

__global__ void syrk(const half* a, float* c, int n, int k, float alpha, float beta) {
    __shared__ float left[DEEP][TILE + 1], right[DEEP][TILE + 1];
    if (blockIdx.x > blockIdx.y) return;
    int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
    int top = blockIdx.y * TILE, from = blockIdx.x * TILE;
    float sum[4][4] = {};
    for (int base = 0; base < k; base += DEEP) {
        for (int i = tid; i < TILE * DEEP; i += 256) {
            int r = i / DEEP, d = i % DEEP;
            bool inside = base + d < k;
            left[d][r] = inside && top + r < n ? __half2float(a[(size_t)(top + r) * k + base + d]) : 0.0f;
            right[d][r] = inside && from + r < n ? __half2float(a[(size_t)(from + r) * k + base + d]) : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < DEEP; ++d)
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) sum[i][j] += left[d][ty + 16 * i] * right[d][tx + 16 * j];
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            int row = top + ty + 16 * i, col = from + tx + 16 * j;
            if (row < n && col <= row) {
                size_t at = (size_t)row * n + col;
                c[at] = beta == 0.0f ? alpha * sum[i][j] : alpha * sum[i][j] + beta * c[at];
            }
        }
}
