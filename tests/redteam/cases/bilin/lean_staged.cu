#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

// Persistent blocks of four warps: 16 pairs at a time, a warp for 16 columns of W, whose fragments stay in
// registers. Two barriers a tile: x and y are in shared memory before the products, the products before the sums.
#define D 64

extern "C" __global__ void bilin(const __half* __restrict__ x, const __half* __restrict__ w,
                                 const __half* __restrict__ y, float* __restrict__ out, int n)
{
    __shared__ __align__(32) __half xs[16 * D], ys[16 * D];
    __shared__ __align__(32) float ts[16 * D];
    int tid = threadIdx.x, warp = tid >> 5;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> b[D / 16];
    for (int k = 0; k < D / 16; k++) wmma::load_matrix_sync(b[k], w + k * 16 * D + warp * 16, D);

    int tiles = (n + 15) / 16;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        int first = tile * 16;
        for (int k = tid; k < 16 * D; k += 128) {
            int i = first + k / D;
            xs[k] = i < n ? x[(size_t)i * D + k % D] : __float2half(0.0f);
            ys[k] = i < n ? y[(size_t)i * D + k % D] : __float2half(0.0f);
        }
        __syncthreads();
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> t;
        wmma::fill_fragment(t, 0.0f);
        for (int k = 0; k < D / 16; k++) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
            wmma::load_matrix_sync(a, xs + k * 16, D);
            wmma::mma_sync(t, a, b[k], t);
        }
        wmma::store_matrix_sync(ts + warp * 16, t, D, wmma::mem_row_major);
        __syncthreads();
        int row = tid >> 3, part = (tid & 7) * 8;              // eight lanes a pair
        float s = 0.0f;
        for (int j = 0; j < 8; j++) s += ts[row * D + part + j] * __half2float(ys[row * D + part + j]);
        s += __shfl_xor_sync(0xffffffffu, s, 1);
        s += __shfl_xor_sync(0xffffffffu, s, 2);
        s += __shfl_xor_sync(0xffffffffu, s, 4);
        if (part == 0 && first + row < n) out[first + row] = s;
    }
}
