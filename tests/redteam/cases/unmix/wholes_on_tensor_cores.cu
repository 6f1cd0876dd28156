#include <mma.h>
using namespace nvcuda;

__device__ float tf32(float v) { return wmma::__float_to_tf32(v); }

// How much of each material is in each pixel: a matrix applied to the bands of a pixel, and nothing below zero.
// Tensor cores multiply; tiles of 32 pixels by 32 materials.
__global__ void unmix(const float* cube, const float* m, float* out, int pixels, int bands, int ends) {
    __shared__ alignas(32) float left[32 * 32], right[32 * 32];
    int t = threadIdx.x, warp = t / 32, tiles = (ends + 31) / 32;
    size_t p0 = (size_t)(blockIdx.x / tiles) * 32;
    int e0 = blockIdx.x % tiles * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.f);
    for (int b0 = 0; b0 < bands; b0 += 32) {
        for (int k = t; k < 1024; k += 128) {
            int r = k / 32, c = k % 32;
            left[k] = tf32(p0 + r < pixels && b0 + c < bands ? cube[(p0 + r) * bands + b0 + c] : 0.f);
            right[k] = tf32(b0 + r < bands && e0 + c < ends ? m[(size_t)(b0 + r) * ends + e0 + c] : 0.f);
        }
        __syncthreads();
        for (int k = 0; k < 32; k += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
            wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
            wmma::load_matrix_sync(a, left + warp / 2 * 512 + k, 32);
            wmma::load_matrix_sync(b, right + k * 32 + warp % 2 * 16, 32);
            wmma::mma_sync(sum, a, b, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(left + warp / 2 * 512 + warp % 2 * 16, sum, 32, wmma::mem_row_major);
    __syncthreads();
    for (int k = t; k < 1024; k += 128) {
        size_t p = p0 + k / 32;
        int e = e0 + k % 32;
        if (p < pixels && e < ends) out[p * ends + e] = fmaxf(left[k], 0.f);
    }
}
