#include <mma.h>
using namespace nvcuda;

__device__ float tf32(float v) { return wmma::__float_to_tf32(v); }

// How much of each material is in each pixel: a matrix applied to the bands of a pixel, and nothing below zero.
// Tensor cores multiply numbers in two parts, so that no digits are lost; tiles of 32 pixels by 32 materials.
__global__ void unmix(const float* cube, const float* m, float* out, int pixels, int bands, int ends) {
    __shared__ alignas(32) float left[2][32 * 32], right[2][32 * 32];
    int t = threadIdx.x, warp = t / 32, tiles = (ends + 31) / 32;
    size_t p0 = (size_t)(blockIdx.x / tiles) * 32;
    int e0 = blockIdx.x % tiles * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum, low, step;
    wmma::fill_fragment(sum, 0.f);
    wmma::fill_fragment(low, 0.f);
    bool large = false;
    for (int b0 = 0; b0 < bands; b0 += 32) {
        for (int k = t; k < 1024; k += 128) {
            int r = k / 32, c = k % 32;
            float v = p0 + r < pixels && b0 + c < bands ? cube[(p0 + r) * bands + b0 + c] : 0.f;
            large |= !(fabsf(v) < 1e15f);
            left[0][k] = tf32(v);
            left[1][k] = tf32(v - left[0][k]);
            v = b0 + r < bands && e0 + c < ends ? m[(size_t)(b0 + r) * ends + e0 + c] : 0.f;
            large |= !(fabsf(v) < 1e15f);
            right[0][k] = tf32(v);
            right[1][k] = tf32(v - right[0][k]);
        }
        __syncthreads();
        for (int k = 0; k < 32; k += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a, rest;
            wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b, other;
            wmma::load_matrix_sync(a, left[0] + warp / 2 * 512 + k, 32);
            wmma::load_matrix_sync(rest, left[1] + warp / 2 * 512 + k, 32);
            wmma::load_matrix_sync(b, right[0] + k * 32 + warp % 2 * 16, 32);
            wmma::load_matrix_sync(other, right[1] + k * 32 + warp % 2 * 16, 32);
            wmma::mma_sync(low, rest, b, low);
            wmma::mma_sync(low, a, other, low);
            // Tensor cores cut digits off where they add: the large parts are added outside of them.
            wmma::fill_fragment(step, 0.f);
            wmma::mma_sync(step, a, b, step);
            for (int s = 0; s < step.num_elements; ++s) sum.x[s] += step.x[s];
        }
        __syncthreads();
    }
    for (int s = 0; s < sum.num_elements; ++s) sum.x[s] += low.x[s];
    wmma::store_matrix_sync(left[0] + warp / 2 * 512 + warp % 2 * 16, sum, 32, wmma::mem_row_major);
    // What is not finite, or near it, has no such parts and is added up plainly.
    bool plain = __syncthreads_or(large);
    for (int k = t; k < 1024; k += 128) {
        size_t p = p0 + k / 32;
        int e = e0 + k % 32;
        if (p >= pixels || e >= ends) continue;
        float v = left[0][k];
        if (plain) {
            v = 0.f;
            for (int b = 0; b < bands; ++b) v += cube[p * bands + b] * m[(size_t)b * ends + e];
        }
        out[p * ends + e] = fmaxf(v, 0.f);
    }
}
