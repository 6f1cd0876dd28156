#include <mma.h>
using namespace nvcuda;

__device__ float tf32(float v) { return wmma::__float_to_tf32(v); }

// The form (x - m)' W (x - m) of each row x: sixteen rows a warp, products by tensor cores.
__global__ void quadform(const float* x, const float* m, const float* w, float* y, int n, int d) {
    __shared__ alignas(32) float left[4][1][16 * 8], right[4][1][16 * 8], made[4][16 * 16];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int first = (blockIdx.x * 4 + warp) * 16;
    if (first >= n) return;
    float sum = 0.f;
    bool large = false;
    for (int p0 = 0; p0 < d; p0 += 16) {
        wmma::fragment<wmma::accumulator, 16, 16, 8, float> c;
        wmma::fill_fragment(c, 0.f);
        for (int q0 = 0; q0 < d; q0 += 8) {
            __syncwarp();
            for (int e = lane; e < 128; e += 32) {
                int r = e / 8, q = q0 + e % 8;
                float v = first + r < n && q < d ? x[(size_t)(first + r) * d + q] - m[q] : 0.f;
                large |= !(fabsf(v) < 1e11f);
                float big = tf32(v);
                left[warp][0][e] = big;
                v = p0 + r < d && q < d ? w[(size_t)(p0 + r) * d + q] : 0.f;
                large |= !(fabsf(v) < 1e11f);
                big = tf32(v);
                right[warp][0][e] = big;
            }
            __syncwarp();
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> f;
            wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> g;
            wmma::load_matrix_sync(g, right[warp][0], 8);
            wmma::load_matrix_sync(f, left[warp][0], 8);
            wmma::mma_sync(c, f, g, c);
        }
        wmma::store_matrix_sync(made[warp], c, 16, wmma::mem_row_major);
        __syncwarp();
        int i = first + lane / 2;
        for (int k = lane % 2 * 8; k < lane % 2 * 8 + 8; ++k)
            if (i < n && p0 + k < d)
                sum += (x[(size_t)i * d + p0 + k] - m[p0 + k]) * made[warp][lane / 2 * 16 + k];
    }
    sum += __shfl_xor_sync(0xffffffffu, sum, 1);
    int i = first + lane / 2;
    if (__any_sync(0xffffffffu, large) && i < n) {
        // What is not finite, or near it, goes the plain way.
        sum = 0.f;
        for (int p = 0; p < d; ++p) {
            float inner = 0.f;
            for (int q = 0; q < d; ++q)
                inner += w[(size_t)p * d + q] * (x[(size_t)i * d + q] - m[q]);
            sum += (x[(size_t)i * d + p] - m[p]) * inner;
        }
    }
    if (lane % 2 == 0 && i < n) y[i] = sum;
}
