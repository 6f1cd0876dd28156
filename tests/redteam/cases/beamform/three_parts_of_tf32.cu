#include <mma.h>
using namespace nvcuda;

// Beams of a row of receivers: at each moment a sum over the receivers, weighed for each beam. Tensor cores multiply
// numbers in three parts of eleven bits each, which hold all of their digits.
__global__ void beamform(const float* x, const float* w, float* y, int receivers, int beams, int moments) {
    __shared__ alignas(32) float left[3][32 * 8], right[3][8 * 32], result[32 * 32];
    int t = threadIdx.x, warp = t / 32, b0 = blockIdx.y * 32, m0 = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum, low;
    wmma::fill_fragment(sum, 0.f);
    wmma::fill_fragment(low, 0.f);
    bool large = false;
    for (int r0 = 0; r0 < receivers; r0 += 8) {
        for (int e = t; e < 256; e += 128) {
            int b = b0 + e / 8, r = r0 + e % 8;
            float v = b < beams && r < receivers ? w[(size_t)b * receivers + r] : 0.f;
            large |= !(fabsf(v) < 1e15f);
            for (int k = 0; k < 3; ++k) {
                left[k][e] = wmma::__float_to_tf32(v);
                v -= left[k][e];
            }
            int m = m0 + e % 32;
            r = r0 + e / 32;
            v = m < moments && r < receivers ? x[(size_t)r * moments + m] : 0.f;
            large |= !(fabsf(v) < 1e15f);
            for (int k = 0; k < 3; ++k) {
                right[k][e] = wmma::__float_to_tf32(v);
                v -= right[k][e];
            }
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a[3];
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> c[3];
        for (int k = 0; k < 3; ++k) {
            wmma::load_matrix_sync(a[k], left[k] + warp / 2 * 128, 8);
            wmma::load_matrix_sync(c[k], right[k] + warp % 2 * 16, 32);
        }
        wmma::mma_sync(low, a[2], c[0], low);
        wmma::mma_sync(low, a[1], c[1], low);
        wmma::mma_sync(low, a[0], c[2], low);
        wmma::mma_sync(low, a[1], c[0], low);
        wmma::mma_sync(low, a[0], c[1], low);
        // Long sums are added outside of the tensor cores, which round them down.
        wmma::fragment<wmma::accumulator, 16, 16, 8, float> step;
        wmma::fill_fragment(step, 0.f);
        wmma::mma_sync(step, a[0], c[0], step);
        for (int k = 0; k < step.num_elements; ++k) sum.x[k] += step.x[k];
        __syncthreads();
    }
    for (int k = 0; k < sum.num_elements; ++k) sum.x[k] += low.x[k];
    wmma::store_matrix_sync(result + warp / 2 * 512 + warp % 2 * 16, sum, 32, wmma::mem_row_major);
    // What is infinite or nearly so has no parts.
    bool plain = __syncthreads_or(large);
    for (int e = t; e < 1024; e += 128) {
        int b = b0 + e / 32, m = m0 + e % 32;
        if (b >= beams || m >= moments) continue;
        float v = result[e];
        if (plain) {
            v = 0.f;
            for (int r = 0; r < receivers; ++r) v += w[(size_t)b * receivers + r] * x[(size_t)r * moments + m];
        }
        y[(size_t)b * moments + m] = v;
    }
}
