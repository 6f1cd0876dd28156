#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;

// A layer of one pixel's width: each channel of the result is a sum over the channels of its pixel, and no less than zero.
// Tensor cores multiply numbers in three parts of eight bits each, so that no digits are lost.
__global__ void pointwise(const float* x, const float* w, const float* bias, float* y, int cin, int cout, int pix) {
    __shared__ alignas(32) __nv_bfloat16 left[3][32 * 16], right[3][16 * 32];
    __shared__ alignas(32) float result[32 * 32];
    int t = threadIdx.x, warp = t / 32, o0 = blockIdx.y * 32, p0 = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, low;
    wmma::fill_fragment(sum, 0.f);
    wmma::fill_fragment(low, 0.f);
    bool large = false;
    for (int c0 = 0; c0 < cin; c0 += 16) {
        for (int e = t; e < 512; e += 128) {
            int o = o0 + e / 16, c = c0 + e % 16;
            float v = o < cout && c < cin ? w[(size_t)o * cin + c] : 0.f;
            large |= !(fabsf(v) < 1e15f);
            for (int k = 0; k < 3; ++k) {
                left[k][e] = __float2bfloat16(v);
                v -= __bfloat162float(left[k][e]);
            }
            int p = p0 + e % 32;
            c = c0 + e / 32;
            v = p < pix && c < cin ? x[(size_t)c * pix + p] : 0.f;
            large |= !(fabsf(v) < 1e15f);
            for (int k = 0; k < 3; ++k) {
                right[k][e] = __float2bfloat16(v);
                v -= __bfloat162float(right[k][e]);
            }
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> a[3];
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::row_major> b[3];
        for (int k = 0; k < 3; ++k) {
            wmma::load_matrix_sync(a[k], left[k] + warp / 2 * 256, 16);
            wmma::load_matrix_sync(b[k], right[k] + warp % 2 * 16, 32);
        }
        wmma::mma_sync(low, a[2], b[0], low);
        wmma::mma_sync(low, a[1], b[1], low);
        wmma::mma_sync(low, a[0], b[2], low);
        wmma::mma_sync(low, a[1], b[0], low);
        wmma::mma_sync(low, a[0], b[1], low);
        // What tensor cores add loses digits; a step's products are added by the others.
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> step;
        wmma::fill_fragment(step, 0.f);
        wmma::mma_sync(step, a[0], b[0], step);
        for (int k = 0; k < step.num_elements; ++k) sum.x[k] += step.x[k];
        __syncthreads();
    }
    for (int k = 0; k < sum.num_elements; ++k) sum.x[k] += low.x[k];
    wmma::store_matrix_sync(result + warp / 2 * 512 + warp % 2 * 16, sum, 32, wmma::mem_row_major);
    // Parts of what is infinite or nearly so are no numbers.
    bool plain = __syncthreads_or(large);
    for (int e = t; e < 1024; e += 128) {
        int o = o0 + e / 32, p = p0 + e % 32;
        if (o >= cout || p >= pix) continue;
        float v = result[e];
        if (plain) {
            v = 0.f;
            for (int c = 0; c < cin; ++c) v += w[(size_t)o * cin + c] * x[(size_t)c * pix + p];
        }
        y[(size_t)o * pix + p] = fmaxf(v + bias[o], 0.f);
    }
}
