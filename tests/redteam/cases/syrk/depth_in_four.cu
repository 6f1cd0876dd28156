// Rank-k update of a symmetric matrix, of which the lower triangle is kept: C = alpha A A' + beta C.
// As in BLAS, C is not read where beta is zero, and what is above the diagonal is not touched.
#include <cuda_fp16.h>
// The depth is split in four, so that small matrices fill the device, too. The first part brings in
// what is there already.

#define TILE 64
#define DEEP 16

__global__ void syrk(const half* a, float* c, int n, int k, float alpha, float beta) {
    __shared__ float left[DEEP][TILE + 1], right[DEEP][TILE + 1];
    if (blockIdx.x > blockIdx.y) return;
    int tid = threadIdx.x, tx = tid % 16, ty = tid / 16;
    int top = blockIdx.y * TILE, from = blockIdx.x * TILE;
    int share = (k + gridDim.z - 1) / gridDim.z;
    int start = blockIdx.z * share, stop = min(k, start + share);
    float sum[4][4] = {};
    for (int base = start; base < stop; base += DEEP) {
        for (int i = tid; i < TILE * DEEP; i += 256) {
            int r = i / DEEP, d = i % DEEP;
            bool inside = base + d < stop;
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
                float part = alpha * sum[i][j];
                if (blockIdx.z == 0) part += (beta - 1.0f) * c[at];
                atomicAdd(&c[at], part);
            }
        }
}
