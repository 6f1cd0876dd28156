#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

// A layer of one pixel's width: each channel of the result is a sum over the channels of its pixel, and no less than zero.
// Tensor cores multiply, and add in float.
__global__ void pointwise(const float* x, const float* w, const float* bias, float* y, int cin, int cout, int pix) {
    __shared__ alignas(32) __nv_bfloat16 left[32 * 16], right[16 * 32];
    __shared__ alignas(32) float result[32 * 32];
    int t = threadIdx.x, warp = t / 32, o0 = blockIdx.y * 32, p0 = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.f);
    for (int c0 = 0; c0 < cin; c0 += 16) {
        for (int e = t; e < 512; e += 128) {
            int o = o0 + e / 16, c = c0 + e % 16;
            left[e] = __float2bfloat16(o < cout && c < cin ? w[(size_t)o * cin + c] : 0.f);
            int p = p0 + e % 32;
            c = c0 + e / 32;
            right[e] = __float2bfloat16(p < pix && c < cin ? x[(size_t)c * pix + p] : 0.f);
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> b;
        wmma::load_matrix_sync(a, left + warp / 2 * 256, 16);
        wmma::load_matrix_sync(b, right + warp % 2 * 16, 32);
        wmma::mma_sync(sum, a, b, sum);
        __syncthreads();
    }
    wmma::store_matrix_sync(result + warp / 2 * 512 + warp % 2 * 16, sum, 32, wmma::mem_row_major);
    __syncthreads();
    for (int e = t; e < 1024; e += 128) {
        int o = o0 + e / 32, p = p0 + e % 32;
        if (o < cout && p < pix) y[(size_t)o * pix + p] = fmaxf(result[e] + bias[o], 0.f);
    }
}
