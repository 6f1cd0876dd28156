// C = leaky(A * B^T + bias), half operands, float accumulation through wmma.
// A small tile (32 x 32) for more blocks; the four warps of a block share the k range instead of the tile:
// warp w takes the 16-wide slices w, w + 4, w + 8 ... and the four partial tiles are added in shared memory.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

#define T 32
#define LD 24               // 16 columns and 8 of padding
#define LC 36

extern "C" __global__ void __launch_bounds__(128)
marquetry(const __half* a, const __half* b, const float* bias, float* c, int m, int n, int k)
{
    __shared__ __align__(32) __half sa[4][T * LD];
    __shared__ __align__(32) __half sb[4][T * LD];
    __shared__ __align__(32) float sc[4][T * LC];
    int row0 = blockIdx.y * T, col0 = blockIdx.x * T;
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::fill_fragment(acc[i][j], 0.0f);

    for (int k0 = 16 * warp; k0 < k; k0 += 64) {        // each warp at its own pace: only warp barriers inside
        for (int e = lane; e < T * 16; e += 32) {
            int r = e >> 4, q = e & 15;
            bool inside = k0 + q < k;
            sa[warp][r * LD + q] = inside && row0 + r < m ? a[(size_t)(row0 + r) * k + k0 + q] : __float2half(0.0f);
            sb[warp][r * LD + q] = inside && col0 + r < n ? b[(size_t)(col0 + r) * k + k0 + q] : __float2half(0.0f);
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[2];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb[2];
        for (int i = 0; i < 2; ++i) {
            wmma::load_matrix_sync(fa[i], sa[warp] + 16 * i * LD, LD);
            wmma::load_matrix_sync(fb[i], sb[warp] + 16 * i * LD, LD);
        }
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
        __syncwarp();
    }
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            wmma::store_matrix_sync(sc[warp] + 16 * i * LC + 16 * j, acc[i][j], LC, wmma::mem_row_major);
    __syncthreads();
    for (int e = threadIdx.x; e < T * T; e += blockDim.x) {
        int r = e / T, q = e % T;
        if (row0 + r < m && col0 + q < n) {
            int s = r * LC + q;
            float v = ((sc[0][s] + sc[1][s]) + (sc[2][s] + sc[3][s])) + bias[col0 + q];
            c[(size_t)(row0 + r) * n + col0 + q] = v > 0.0f ? v : 0.01f * v;
        }
    }
}
