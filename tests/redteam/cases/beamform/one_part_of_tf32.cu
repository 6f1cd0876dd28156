#include <mma.h>
using namespace nvcuda;

// Beams of a row of receivers: at each moment a sum over the receivers, weighed for each beam. On tensor cores.
__global__ void beamform(const float* x, const float* w, float* y, int receivers, int beams, int moments) {
    __shared__ alignas(32) float left[32 * 16], right[16 * 32], result[32 * 32];
    int t = threadIdx.x, warp = t / 32, b0 = blockIdx.y * 32, m0 = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.f);
    for (int r0 = 0; r0 < receivers; r0 += 16) {
        for (int e = t; e < 512; e += 128) {
            int b = b0 + e / 16, r = r0 + e % 16, m = m0 + e % 32;
            left[e] = wmma::__float_to_tf32(b < beams && r < receivers ? w[(size_t)b * receivers + r] : 0.f);
            r = r0 + e / 32;
            right[e] = wmma::__float_to_tf32(m < moments && r < receivers ? x[(size_t)r * moments + m] : 0.f);
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> c;
        for (int k = 0; k < 16; k += 8) {
            wmma::load_matrix_sync(a, left + warp / 2 * 256 + k, 16);
            wmma::load_matrix_sync(c, right + k * 32 + warp % 2 * 16, 32);
            wmma::mma_sync(sum, a, c, sum);
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(result + warp / 2 * 512 + warp % 2 * 16, sum, 32, wmma::mem_row_major);
    __syncthreads();
    for (int e = t; e < 1024; e += 128) {
        int b = b0 + e / 32, m = m0 + e % 32;
        if (b < beams && m < moments) y[(size_t)b * moments + m] = result[e];
    }
}
