#include <mma.h>
using namespace nvcuda;

__device__ float tf32(float v) { return wmma::__float_to_tf32(v); }

// What a layer of low rank adds to its results: y += scale * (x a) b. Sixteen rows a block; x a is made by
// tensor cores of numbers in two parts each, so that no digits are lost.
__global__ void lora(const float* x, const float* a, const float* b, float* y, int n, int d, int r, int m,
                     float scale) {
    __shared__ alignas(32) float left[4][2][128], right[4][2][128], mid[4][256];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, first = blockIdx.x * 16;
    for (int j0 = 0; j0 < r; j0 += 16) {
        wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
        wmma::fill_fragment(c, 0.f);
        bool large = false;
        for (int k0 = warp * 8; k0 < d; k0 += 32) {
            __syncwarp();
            for (int e = lane; e < 128; e += 32) {
                int i = first + e / 8, k = k0 + e % 8;
                float v = i < n && k < d ? x[(size_t)i * d + k] : 0.f, big = tf32(v);
                large |= !(fabsf(v) < 1e11f);
                left[warp][0][e] = big;
                left[warp][1][e] = tf32(v - big);
                int j = j0 + e % 16;
                k = k0 + e / 16;
                v = k < d && j < r ? a[(size_t)k * r + j] : 0.f;
                large |= !(fabsf(v) < 1e11f);
                big = tf32(v);
                right[warp][0][e] = big;
                right[warp][1][e] = tf32(v - big);
            }
            __syncwarp();
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> f;
            wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> g, rest;
            wmma::load_matrix_sync(g, right[warp][0], 16);
            wmma::load_matrix_sync(rest, right[warp][1], 16);
            wmma::load_matrix_sync(f, left[warp][1], 8);
            wmma::mma_sync(c, f, g, c);
            wmma::load_matrix_sync(f, left[warp][0], 8);
            wmma::mma_sync(c, f, rest, c);
            wmma::mma_sync(c, f, g, c);
        }
        wmma::store_matrix_sync(mid[warp], c, 16, wmma::mem_row_major);
        large = __syncthreads_or(large);
        for (int e = threadIdx.x; e < 256; e += 128) {
            int i = first + e / 16, j = j0 + e % 16;
            float sum = mid[0][e] + mid[1][e] + mid[2][e] + mid[3][e];
            if (large && i < n && j < r) {
                // What is not finite, or near it, goes the plain way.
                sum = 0.f;
                for (int k = 0; k < d; ++k) sum += x[(size_t)i * d + k] * a[(size_t)k * r + j];
            }
            mid[0][e] = sum;
        }
        __syncthreads();
        int many = min(16, r - j0);
        for (int q = threadIdx.x; q < m; q += 128)
            for (int i = 0; i < 16 && first + i < n; ++i) {
                float sum = 0.f;
                for (int j = 0; j < many; ++j) sum += mid[0][i * 16 + j] * b[(size_t)(j0 + j) * m + q];
                y[(size_t)(first + i) * m + q] += scale * sum;
            }
        __syncthreads();
    }
}
