// C = leaky(A * B^T + bias): half operands, float accumulation on tensor cores through wmma.
// A is [m][k], B is [n][k], both row-major; C is [m][n] in float. Any m, n, k.
// Block = 4 warps = a 64 x 64 tile of C, each warp a 32 x 32 quarter; 32 columns of k a step.
#include <cuda_fp16.h>
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
    __shared__ __align__(32) __half sa[TM * LD];
    __shared__ __align__(32) __half sb[TN * LD];
    __shared__ __align__(32) __half sh[TM * (TN + 8)];
    __shared__ __align__(32) float sc[TM * LC];

    int row0 = blockIdx.y * TM, col0 = blockIdx.x * TN;
    int warp = threadIdx.x >> 5, wr = (warp >> 1) * 32, wc = (warp & 1) * 32;

    float sum[32] = {};

    for (int k0 = 0; k0 < k; k0 += TK) {
        for (int e = threadIdx.x; e < TM * TK; e += blockDim.x) {
            int r = e / TK, q = e % TK;
            bool inside = k0 + q < k;
            sa[r * LD + q] = inside && row0 + r < m ? a[(size_t)(row0 + r) * k + k0 + q] : __float2half(0.0f);
            sb[r * LD + q] = inside && col0 + r < n ? b[(size_t)(col0 + r) * k + k0 + q] : __float2half(0.0f);
        }
        __syncthreads();
        // the 32 products of one step run on the fast half path; the long sum over the steps stays in float
        wmma::fragment<wmma::accumulator, 16, 16, 16, __half> step[2][2];
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) wmma::fill_fragment(step[i][j], __float2half(0.0f));
        for (int q = 0; q < TK; q += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb[2];
            for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(fa[i], sa + (wr + 16 * i) * LD + q, LD);
            for (int j = 0; j < 2; ++j) wmma::load_matrix_sync(fb[j], sb + (wc + 16 * j) * LD + q, LD);
            for (int i = 0; i < 2; ++i)
                for (int j = 0; j < 2; ++j) wmma::mma_sync(step[i][j], fa[i], fb[j], step[i][j]);
        }
        // widen through shared memory: the layouts of the two accumulators differ
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) {
                __half* p = sh + (wr + 16 * i) * (TN + 8) + wc + 16 * j;
                wmma::store_matrix_sync(p, step[i][j], TN + 8, wmma::mem_row_major);
            }
        __syncwarp();
        for (int r = 0; r < 32; ++r)
            sum[r] += __half2float(sh[(wr + r) * (TN + 8) + wc + (threadIdx.x & 31)]);
        __syncthreads();
    }

    for (int r = 0; r < 32; ++r) sc[(wr + r) * LC + wc + (threadIdx.x & 31)] = sum[r];
    __syncthreads();
    for (int e = threadIdx.x; e < TM * TN; e += blockDim.x) {
        int r = e / TN, q = e % TN;
        if (row0 + r < m && col0 + q < n) {
            float v = sc[r * LC + q] + bias[col0 + q];
            c[(size_t)(row0 + r) * n + col0 + q] = v > 0.0f ? v : 0.01f * v;
        }
    }
}
