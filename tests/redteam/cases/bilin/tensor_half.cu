#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// Tensor cores for X W: a warp takes 16 pairs, 16 columns of W at a time, and weighs the tile with y. The tile holds 64 products
// a place, so the matrix units may keep it in half; the sums over y are float.
// Pairs beyond the last are zeros.
#define D 64
#define WARPS 4

extern "C" __global__ void bilin(const __half* __restrict__ x, const __half* __restrict__ w,
                                 const __half* __restrict__ y, float* __restrict__ out, int n)
{
    __shared__ __align__(32) __half xs[WARPS][16 * D];
    __shared__ __align__(32) __half ts[WARPS][16 * 16];
    int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
    int first = (blockIdx.x * WARPS + warp) * 16;
    if (first >= n) return;
    for (int k = lane; k < 16 * D; k += 32) {
        int i = first + k / D;
        xs[warp][k] = i < n ? x[(size_t)i * D + k % D] : __float2half(0.0f);
    }
    __syncwarp();
    int row = lane >> 1, side = (lane & 1) * 8;
    int mine = min(first + row, n - 1);
    float s = 0.0f;
    for (int c = 0; c < D; c += 16) {
        wmma::fragment<wmma::accumulator, 16, 16, 16, __half> t;
        wmma::fill_fragment(t, __float2half(0.0f));
        for (int k = 0; k < D; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b;
            wmma::load_matrix_sync(a, xs[warp] + k, D);
            wmma::load_matrix_sync(b, w + k * D + c, D);
            wmma::mma_sync(t, a, b, t);
        }
        wmma::store_matrix_sync(ts[warp], t, 16, wmma::mem_row_major);
        __syncwarp();
        for (int j = 0; j < 8; j++)
            s += __half2float(ts[warp][row * 16 + side + j]) * __half2float(y[(size_t)mine * D + c + side + j]);
        __syncwarp();
    }
    s += __shfl_xor_sync(0xffffffffu, s, 1);
    if (side == 0 && first + row < n) out[first + row] = s;
}
