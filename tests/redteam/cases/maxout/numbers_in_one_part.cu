#include <mma.h>
using namespace nvcuda;

typedef wmma::fragment<wmma::accumulator, 16, 16, 8, float> Sum;
typedef wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> Left;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> Right;

// A layer of units that are the larger of two: rows of x times two matrices, each with what is added to it.
// Tensor cores multiply. A block has 32 rows and 32 units.
__global__ void maxout(const float* x, const float* w, const float* b, float* out, int n, int k, int m) {
    __shared__ alignas(128) float a[1][32 * 36], p[1][32 * 36], q[1][32 * 36];
    int t = threadIdx.x, warp = t / 32, top = warp / 2 * 16, left = warp % 2 * 16;
    size_t across = ((size_t)m + 31) / 32, i0 = blockIdx.x / across * 32, j0 = blockIdx.x % across * 32;
    Sum u, v, step;
    wmma::fill_fragment(u, 0.f);
    wmma::fill_fragment(v, 0.f);
    for (size_t c0 = 0; c0 < k; c0 += 32) {
        for (int s = t; s < 1024; s += 128) {
            int y = s / 32, z = s % 32, at = y * 36 + z;
            float f = i0 + y < n && c0 + z < k ? x[(i0 + y) * k + c0 + z] : 0.f;
            bool in = c0 + y < k && j0 + z < m;
            float g = in ? w[(c0 + y) * m + j0 + z] : 0.f, h = in ? w[(k + c0 + y) * m + j0 + z] : 0.f;
            a[0][at] = wmma::__float_to_tf32(f);
            p[0][at] = wmma::__float_to_tf32(g);
            q[0][at] = wmma::__float_to_tf32(h);
        }
        __syncthreads();
        for (int c = 0; c < 32; c += 8) {
            Left high;
            Right one;
            wmma::load_matrix_sync(high, a[0] + top * 36 + c, 36);
            wmma::load_matrix_sync(one, p[0] + c * 36 + left, 36);
            wmma::fill_fragment(step, 0.f);
            wmma::mma_sync(step, high, one, step);
            for (int s = 0; s < step.num_elements; ++s) u.x[s] += step.x[s];
            wmma::load_matrix_sync(one, q[0] + c * 36 + left, 36);
            wmma::fill_fragment(step, 0.f);
            wmma::mma_sync(step, high, one, step);
            for (int s = 0; s < step.num_elements; ++s) v.x[s] += step.x[s];
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(p[0] + top * 36 + left, u, 36, wmma::mem_row_major);
    wmma::store_matrix_sync(q[0] + top * 36 + left, v, 36, wmma::mem_row_major);
    __syncthreads();
    for (int s = t; s < 1024; s += 128) {
        size_t i = i0 + s / 32, j = j0 + s % 32;
        int at = s / 32 * 36 + s % 32;
        if (i >= n || j >= m) continue;
        float f = p[0][at], g = q[0][at];
        out[i * m + j] = fmaxf(f + b[j], g + b[m + j]);
    }
}
