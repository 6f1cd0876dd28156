// Tensor cores with float accuracy: every number becomes a sum of two halves (22 bits together), and all four products
// of the parts are accumulated in float.
#include <mma.h>
#include <cuda_fp16.h>
using namespace nvcuda;
#define LD 24
typedef wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> FragA;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> FragB;
typedef wmma::fragment<wmma::accumulator, 16, 16, 16, float> FragC;

extern "C" __global__ void __launch_bounds__(128) affinity(const float* __restrict__ q, const float* __restrict__ k,
                                                           const float* __restrict__ bias, float* __restrict__ out, int n, int m, int d)
{
    __shared__ __align__(32) __half a[2][32 * LD];
    __shared__ __align__(32) __half b[2][32 * LD];
    __shared__ __align__(32) float res[32 * 40];
    int t = threadIdx.x, warp = t >> 5;
    int i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;
    int wi = (warp >> 1) * 16, wj = (warp & 1) * 16;
    FragC acc;
    wmma::fill_fragment(acc, 0.0f);
    for (int c = 0; c < d; c += 16) {
        for (int e = t; e < 32 * 16; e += 128) {
            int row = e / 16, col = e % 16;
            float x = (i0 + row < n && c + col < d) ? q[(size_t)(i0 + row) * d + c + col] : 0.0f;
            float y = (j0 + row < m && c + col < d) ? k[(size_t)(j0 + row) * d + c + col] : 0.0f;
            __half xh = __float2half_rn(x), yh = __float2half_rn(y);
            a[0][row * LD + col] = xh;
            a[1][row * LD + col] = __float2half_rn(x - __half2float(xh));
            b[0][row * LD + col] = yh;
            b[1][row * LD + col] = __float2half_rn(y - __half2float(yh));
        }
        __syncthreads();
        FragA fa[2];
        FragB fb[2];
        #pragma unroll
        for (int s = 0; s < 2; ++s) {
            wmma::load_matrix_sync(fa[s], a[s] + wi * LD, LD);
            wmma::load_matrix_sync(fb[s], b[s] + wj * LD, LD);
        }
        FragC part;
        wmma::fill_fragment(part, 0.0f);
        wmma::mma_sync(part, fa[1], fb[1], part);
        wmma::mma_sync(part, fa[1], fb[0], part);
        wmma::mma_sync(part, fa[0], fb[1], part);
        wmma::mma_sync(part, fa[0], fb[0], part);
        #pragma unroll
        for (int e = 0; e < part.num_elements; ++e) acc.x[e] += part.x[e];
        __syncthreads();
    }
    wmma::store_matrix_sync(res + wi * 40 + wj, acc, 40, wmma::mem_row_major);
    __syncthreads();
    for (int e = t; e < 32 * 32; e += 128) {
        int i = i0 + e / 32, j = j0 + e % 32;
        if (i < n && j < m) out[(size_t)i * m + j] = fmaf(0.125f, res[(e / 32) * 40 + e % 32], bias[j]);
    }
}
