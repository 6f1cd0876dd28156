#include <mma.h>
using namespace nvcuda;

__device__ float by_hand(const float* move, const float* delta, const float* gamma, int factors) {
    float sum = 0.f;
    for (int f = 0; f < factors; ++f) sum += move[f] * (delta[f] + 0.5f * gamma[f] * move[f]);
    return sum;
}

// A number's upper eleven bits, and what is left of it.
__device__ float upper(float& v) {
    float high = __uint_as_float(__float_as_uint(v) & 0xffffe000u);
    v -= high;
    return high;
}

// What books gain in scenarios, by tensor cores. Three parts of eleven bits hold all of a float, and sums of more than
// eight products are left to ordinary additions, which round to the nearest.
__global__ void stressed(const float* move, const float* delta, const float* gamma, float* out, int scenarios,
                         int books, int factors) {
    __shared__ alignas(32) float left[3][32 * 8], right[3][32 * 8], result[32 * 32];
    int t = threadIdx.x, warp = t / 32, across = (books + 31) / 32;
    int b0 = blockIdx.x % across * 32, s0 = blockIdx.x / across * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fill_fragment(sum, 0.f);
    for (int g0 = 0; g0 < 2 * factors; g0 += 8) {
        for (int e = t; e < 256; e += 128) {
            // Even columns are of the first order, odd ones of the second.
            int f = (g0 + e % 8) / 2, odd = e % 2, s = s0 + e / 8, b = b0 + e / 8;
            float v = s < scenarios && f < factors ? move[(size_t)s * factors + f] : 0.f;
            if (odd) v = 0.5f * v * v;
            for (int k = 0; k < 3; ++k) left[k][e] = upper(v);
            v = b < books && f < factors ? (odd ? gamma : delta)[(size_t)b * factors + f] : 0.f;
            for (int k = 0; k < 3; ++k) right[k][e] = upper(v);
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a[3];
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> c[3];
        wmma::fragment<wmma::accumulator, 16, 16, 8, float> part;
        for (int k = 0; k < 3; ++k) {
            wmma::load_matrix_sync(a[k], left[k] + warp / 2 * 128, 8);
            wmma::load_matrix_sync(c[k], right[k] + warp % 2 * 128, 8);
        }
        wmma::fill_fragment(part, 0.f);
        for (int order = 2; order >= 0; --order)
            for (int k = 0; k <= order; ++k) wmma::mma_sync(part, a[k], c[order - k], part);
        for (int k = 0; k < part.num_elements; ++k) sum.x[k] += part.x[k];
        __syncthreads();
    }
    wmma::store_matrix_sync(result + warp / 2 * 512 + warp % 2 * 16, sum, 32, wmma::mem_row_major);
    __syncthreads();
    for (int e = t; e < 1024; e += 128) {
        int s = s0 + e / 32, b = b0 + e % 32;
        if (s >= scenarios || b >= books) continue;
        float v = result[e];
        // An infinite number has no parts.
        if (!isfinite(v)) {
            size_t at = (size_t)b * factors;
            v = by_hand(move + (size_t)s * factors, delta + at, gamma + at, factors);
        }
        out[(size_t)s * books + b] = v;
    }
}
