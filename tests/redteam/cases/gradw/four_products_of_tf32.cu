#include <mma.h>
// The gradient of a layer's weights: columns of what went in times columns of what came back.
// Each number is split in two of eleven bits, so that four products on tensor cores keep what a float has.
// What is not finite, or not when rounded, cannot be split: a tile that meets it is worked out without.
__global__ void gradw(const float* x, const float* g, float* dw, int m, int k, int n) {
    using namespace nvcuda;
    __shared__ __align__(32) float xh[32][40], xl[32][40], gh[32][40], gl[32][40];
    int across = (n + 31) / 32, row0 = blockIdx.x / across * 32, column0 = blockIdx.x % across * 32;
    int warp = threadIdx.x / 32, wr = warp / 2 * 16, wc = warp % 2 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum, part, small;
    wmma::fill_fragment(sum, 0.f);
    wmma::fill_fragment(small, 0.f);
    bool odd = false;
    for (int r0 = 0; r0 < m; r0 += 32) {
        __syncthreads();
        for (int e = threadIdx.x; e < 32 * 32; e += blockDim.x) {
            int r = e / 32, c = e % 32;
            float a = 0.f, b = 0.f;
            if (r0 + r < m && row0 + c < k) a = x[(size_t)(r0 + r) * k + row0 + c];
            if (r0 + r < m && column0 + c < n) b = g[(size_t)(r0 + r) * n + column0 + c];
            float ah = wmma::__float_to_tf32(a), bh = wmma::__float_to_tf32(b);
            odd |= !isfinite(ah) || !isfinite(bh);
            xh[r][c] = ah, xl[r][c] = wmma::__float_to_tf32(a - ah);
            gh[r][c] = bh, gl[r][c] = wmma::__float_to_tf32(b - bh);
        }
        __syncthreads();
        for (int s = 0; s < 32; s += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::col_major> ah, al;
            wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> bh, bl;
            wmma::load_matrix_sync(ah, &xh[s][wr], 40);
            wmma::load_matrix_sync(al, &xl[s][wr], 40);
            wmma::load_matrix_sync(bh, &gh[s][wc], 40);
            wmma::load_matrix_sync(bl, &gl[s][wc], 40);
            wmma::mma_sync(small, al, bl, small);
            wmma::mma_sync(small, al, bh, small);
            wmma::mma_sync(small, ah, bl, small);
            // Tensor cores cut off what does not fit: long sums are added up outside of them.
            wmma::fill_fragment(part, 0.f);
            wmma::mma_sync(part, ah, bh, part);
            for (int e = 0; e < sum.num_elements; ++e) sum.x[e] += part.x[e];
        }
    }
    for (int e = 0; e < sum.num_elements; ++e) sum.x[e] += small.x[e];
    __syncthreads();
    wmma::store_matrix_sync(&xh[wr][wc], sum, 40, wmma::mem_row_major);
    bool again = __syncthreads_or(odd);
    for (int e = threadIdx.x; e < 32 * 32; e += blockDim.x) {
        int r = row0 + e / 32, c = column0 + e % 32;
        if (r >= k || c >= n) continue;
        float value = xh[e / 32][e % 32];
        if (again) {
            value = 0.f;
            for (int q = 0; q < m; ++q) value += x[(size_t)q * k + r] * g[(size_t)q * n + c];
        }
        dw[(size_t)r * n + c] = value;
    }
}
