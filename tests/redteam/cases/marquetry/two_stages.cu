// C = leaky(A * B^T + bias): half operands, float accumulation on tensor cores through wmma.
// A is [m][k], B is [n][k], both row-major; C is [m][n] in float. Any m, n, k.
// Block = 4 warps = a 64 x 64 tile of C, each warp a 32 x 32 quarter; 32 columns of k a step.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
using namespace nvcuda;

#define TM 64
#define TN 64
#define TK 32
#define LD (TK + 8)
#define LC (TN + 4)

extern "C" __global__ void __launch_bounds__(128)
marquetry(const __half* a, const __half* b, const float* bias, float* c, int m, int n, int k)
{
    __shared__ __align__(32) __half sa[2][TM * LD];
    __shared__ __align__(32) __half sb[2][TN * LD];
    __shared__ __align__(32) float sc[TM * LC];

    int row0 = blockIdx.y * TM, col0 = blockIdx.x * TN;
    int warp = threadIdx.x >> 5, wr = (warp >> 1) * 32, wc = (warp & 1) * 32;

    wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc[2][2];
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::fill_fragment(acc[i][j], 0.0f);

    // Two stages of cp.async (16 bytes a piece) where the rows of A and B begin at multiples of 16 bytes;
    // pieces that are outside become zeros. Other k take the plain copies.
    bool wide = (k & 7) == 0;
    auto fetch = [&](int k0, int s) {
        if (wide) {
            for (int e = threadIdx.x; e < TM * TK / 8; e += blockDim.x) {
                int r = e / (TK / 8), q = e % (TK / 8) * 8;
                bool inside = k0 + q < k;
                __half* da = sa[s] + r * LD + q;
                __half* db = sb[s] + r * LD + q;
                if (inside && row0 + r < m) __pipeline_memcpy_async(da, a + (size_t)(row0 + r) * k + k0 + q, 16);
                else *reinterpret_cast<uint4*>(da) = make_uint4(0, 0, 0, 0);
                if (inside && col0 + r < n) __pipeline_memcpy_async(db, b + (size_t)(col0 + r) * k + k0 + q, 16);
                else *reinterpret_cast<uint4*>(db) = make_uint4(0, 0, 0, 0);
            }
        } else {
            for (int e = threadIdx.x; e < TM * TK; e += blockDim.x) {
                int r = e / TK, q = e % TK;
                bool inside = k0 + q < k;
                sa[s][r * LD + q] = inside && row0 + r < m ? a[(size_t)(row0 + r) * k + k0 + q] : __float2half(0.0f);
                sb[s][r * LD + q] = inside && col0 + r < n ? b[(size_t)(col0 + r) * k + k0 + q] : __float2half(0.0f);
            }
        }
        __pipeline_commit();
    };
    fetch(0, 0);
    int s = 0;
    for (int k0 = 0; k0 < k; k0 += TK, s ^= 1) {
        if (k0 + TK < k) fetch(k0 + TK, s ^ 1);
        else __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int q = 0; q < TK; q += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb[2];
            for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(fa[i], sa[s] + (wr + 16 * i) * LD + q, LD);
            for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(fb[j], sb[s] + (wc + 16 * j) * LD + q, LD);
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) wmma::mma_sync(acc[i][j], fa[i], fb[j], acc[i][j]);
        }
        __syncthreads();
    }

    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j)
            wmma::store_matrix_sync(sc + (wr + 16 * i) * LC + wc + 16 * j, acc[i][j], LC, wmma::mem_row_major);
    __syncthreads();
    for (int e = threadIdx.x; e < TM * TN; e += blockDim.x) {
        int r = e / TN, q = e % TN;
        if (row0 + r < m && col0 + q < n) {
            float v = sc[r * LC + q] + bias[col0 + q];
            c[(size_t)(row0 + r) * n + col0 + q] = v > 0.0f ? v : 0.01f * v;
        }
    }
}
