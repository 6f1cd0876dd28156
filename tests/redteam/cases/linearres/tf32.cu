// h += leaky(x * w^T + bias) on the tensor cores: four warps a block, each a 16 x 16 tile of a 32 x 32
// block tile; operands staged through shared memory with zero fill, sums in float.
#include <cuda_runtime.h>
#include <mma.h>
using namespace nvcuda;
#define BT 32
#define BK 16
#define LD (BK + 4)

extern "C" __global__ void __launch_bounds__(128)
linearres(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
          float* __restrict__ h, int m, int n, int k, float slope) {
    __shared__ __align__(32) float xs[BT * LD];
    __shared__ __align__(32) float ws[BT * LD];
    __shared__ __align__(32) float cs[BT * (BT + 4)];
    const int warp = threadIdx.x >> 5, wy = warp >> 1, wx = warp & 1;
    const int row0 = blockIdx.y * BT, col0 = blockIdx.x * BT;

    wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
    wmma::fill_fragment(c, 0.f);
    for (int k0 = 0; k0 < k; k0 += BK) {
        for (int i = threadIdx.x; i < BT * BK; i += 128) {
            const int r = i / BK, q = i % BK;
            xs[r * LD + q] = (row0 + r < m && k0 + q < k) ? x[(size_t)(row0 + r) * k + k0 + q] : 0.f;
            ws[r * LD + q] = (col0 + r < n && k0 + q < k) ? w[(size_t)(col0 + r) * k + k0 + q] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < BK; q += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
            wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> b;
            wmma::load_matrix_sync(a, xs + wy * 16 * LD + q, LD);
            wmma::load_matrix_sync(b, ws + wx * 16 * LD + q, LD);
            for (int i = 0; i < a.num_elements; ++i) a.x[i] = wmma::__float_to_tf32(a.x[i]);
            for (int i = 0; i < b.num_elements; ++i) b.x[i] = wmma::__float_to_tf32(b.x[i]);
            wmma::mma_sync(c, a, b, c);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(cs + wy * 16 * (BT + 4) + wx * 16, c, BT + 4, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < BT * BT; i += 128) {
        const int r = i / BT, q = i % BT;
        if (row0 + r < m && col0 + q < n) {
            const float v = cs[r * (BT + 4) + q] + bias[col0 + q];
            h[(size_t)(row0 + r) * n + col0 + q] += v < 0.f ? slope * v : v;
        }
    }
}
