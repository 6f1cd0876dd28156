#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

// A block makes 64 x 64 results, a warp 32 x 32 of them.
__global__ void halfprod(const __half* __restrict__ a, const __half* __restrict__ b,
                         float* __restrict__ c, int m, int n, int k) {
    __shared__ __align__(32) __half as[64][40], bs[64][40];
    __shared__ __align__(32) float out[64][72];
    int t = threadIdx.x, warp = t / 32, y = warp / 2 * 32, x = warp % 2 * 32;
    int row0 = blockIdx.y * 64, col0 = blockIdx.x * 64;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::fill_fragment(sum[i][j], 0.f);
    const __half zero = __float2half(0.f);
    for (int k0 = 0; k0 < k; k0 += 32) {
        for (int i = t; i < 64 * 32; i += 128) {
            int r = i / 32, kk = i % 32;
            bool in = k0 + kk < k;
            as[r][kk] = in && row0 + r < m ? a[(size_t)(row0 + r) * k + k0 + kk] : zero;
            bs[r][kk] = in && col0 + r < n ? b[(size_t)(col0 + r) * k + k0 + kk] : zero;
        }
        __syncthreads();
        for (int kk = 0; kk < 32; kk += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb[2];
            for (int i = 0; i < 2; ++i) {
                wmma::load_matrix_sync(fa[i], &as[y + 16 * i][kk], 40);
                wmma::load_matrix_sync(fb[i], &bs[x + 16 * i][kk], 40);
            }
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], fa[i], fb[j], sum[i][j]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            wmma::store_matrix_sync(&out[y + 16 * i][x + 16 * j], sum[i][j], 72,
                                    wmma::mem_row_major);
    __syncthreads();
    for (int i = t; i < 64 * 64; i += 128) {
        int r = i / 64, q = i % 64;
        if (row0 + r < m && col0 + q < n) c[(size_t)(row0 + r) * n + col0 + q] = out[r][q];
    }
}
