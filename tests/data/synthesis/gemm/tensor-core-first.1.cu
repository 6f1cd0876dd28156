#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// A tile of 64 x 64 a block by wmma, four warps of 32 x 32 each, borders through shared memory.
__global__ void gemm_tn(const half* a, const half* b, float* c, int m, int n, int k)
{
    __shared__ half tile_a[64 * 40];
    __shared__ half tile_b[64 * 40];
    __shared__ float tile_c[64 * 72];
    const int row = blockIdx.y * 64, col = blockIdx.x * 64;
    const int warp = threadIdx.x / 32, wr = (warp / 2) * 32, wc = (warp % 2) * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) wmma::fill_fragment(sums[i][j], 0.0f);
    for (int depth = 0; depth < k; depth += 32) {
        for (int i = threadIdx.x; i < 64 * 32; i += blockDim.x) {
            int r = i / 32, d = i % 32;
            bool deep = depth + d < k;
            tile_a[r * 40 + d] = deep && row + r < m ? a[(row + r) * k + depth + d] : __float2half(0.0f);
            tile_b[r * 40 + d] = deep && col + r < n ? b[(col + r) * k + depth + d] : __float2half(0.0f);
        }
        __syncthreads();
        for (int d = 0; d < 32; d += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb[2];
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(fa[i], tile_a + (wr + 16 * i) * 40 + d, 40);
                wmma::load_matrix_sync(fb[i], tile_b + (wc + 16 * i) * 40 + d, 40);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) wmma::mma_sync(sums[i][j], fa[i], fb[j], sums[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::store_matrix_sync(tile_c + (wr + 16 * i) * 72 + wc + 16 * j, sums[i][j], 72,
                                    wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < 64 * 64; i += blockDim.x) {
        int r = i / 64, s = i % 64;
        if (row + r < m && col + s < n) c[(row + r) * n + col + s] = tile_c[r * 72 + s];
    }
}
