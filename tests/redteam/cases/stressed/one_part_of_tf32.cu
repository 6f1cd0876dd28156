#include <mma.h>
using namespace nvcuda;

// What books gain in scenarios, by tensor cores.
__global__ void stressed(const float* move, const float* delta, const float* gamma, float* out, int scenarios,
                         int books, int factors) {
    __shared__ alignas(32) float left[32 * 8], right[32 * 8], result[32 * 32];
    int t = threadIdx.x, warp = t / 32, across = (books + 31) / 32;
    int b0 = blockIdx.x % across * 32, s0 = blockIdx.x / across * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.f);
    for (int g0 = 0; g0 < 2 * factors; g0 += 8) {
        for (int e = t; e < 256; e += 128) {
            int f = (g0 + e % 8) / 2, odd = e % 2, s = s0 + e / 8, b = b0 + e / 8;
            float v = s < scenarios && f < factors ? move[(size_t)s * factors + f] : 0.f;
            left[e] = wmma::__float_to_tf32(odd ? 0.5f * v * v : v);
            v = b < books && f < factors ? (odd ? gamma : delta)[(size_t)b * factors + f] : 0.f;
            right[e] = wmma::__float_to_tf32(v);
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> c;
        wmma::load_matrix_sync(a, left + warp / 2 * 128, 8);
        wmma::load_matrix_sync(c, right + warp % 2 * 128, 8);
        wmma::mma_sync(sum, a, c, sum);
        __syncthreads();
    }
    wmma::store_matrix_sync(result + warp / 2 * 512 + warp % 2 * 16, sum, 32, wmma::mem_row_major);
    __syncthreads();
    for (int e = t; e < 1024; e += 128) {
        int s = s0 + e / 32, b = b0 + e % 32;
        if (s < scenarios && b < books) out[(size_t)s * books + b] = result[e];
    }
}
