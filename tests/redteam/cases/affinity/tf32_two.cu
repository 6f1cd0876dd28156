// Tensor cores, with the queries split into two TF32 parts so that the rounding of the larger operand is made good.
#include <mma.h>
using namespace nvcuda;
#define KC 16
#define LD 20
typedef wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> FragA;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> FragB;
typedef wmma::fragment<wmma::accumulator, 16, 16, 8, float> FragC;

extern "C" __global__ void __launch_bounds__(128) affinity(const float* __restrict__ q, const float* __restrict__ k,
                                                           const float* __restrict__ bias, float* __restrict__ out, int n, int m, int d)
{
    __shared__ __align__(32) float ah[32 * LD];
    __shared__ __align__(32) float al[32 * LD];
    __shared__ __align__(32) float bh[32 * LD];
    __shared__ __align__(32) float res[32 * 40];
    int t = threadIdx.x, warp = t >> 5;
    int i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;
    int wi = (warp >> 1) * 16, wj = (warp & 1) * 16;
    FragC acc;
    wmma::fill_fragment(acc, 0.0f);
    
    for (int c = 0; c < d; c += KC) {
        for (int e = t; e < 32 * KC; e += 128) {
            int row = e / KC, col = e % KC;
            float x = (i0 + row < n && c + col < d) ? q[(size_t)(i0 + row) * d + c + col] : 0.0f;
            float y = (j0 + row < m && c + col < d) ? k[(size_t)(j0 + row) * d + c + col] : 0.0f;
            
            float xh = wmma::__float_to_tf32(x), yh = wmma::__float_to_tf32(y);
            ah[row * LD + col] = xh;
            bh[row * LD + col] = yh;
            al[row * LD + col] = wmma::__float_to_tf32(x - xh);
        }
        __syncthreads();
        FragC part;
        wmma::fill_fragment(part, 0.0f);
        #pragma unroll
        for (int s = 0; s < KC; s += 8) {
            FragA fh, fl;
            FragB gh;
            wmma::load_matrix_sync(fh, ah + wi * LD + s, LD);
            wmma::load_matrix_sync(fl, al + wi * LD + s, LD);
            wmma::load_matrix_sync(gh, bh + wj * LD + s, LD);
            wmma::mma_sync(part, fl, gh, part);
            wmma::mma_sync(part, fh, gh, part);
        }
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
