#include <mma.h>
using namespace nvcuda;

typedef wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> Rows;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> Columns;
typedef wmma::fragment<wmma::accumulator, 16, 16, 8, float> Sums;

// What a product of two matrices leaves of a third: r = d - a * b. Each number goes to the tensor cores as what they
// keep of it, and what they do not. A block has 32 by 32 of r, each warp a quarter.
__global__ void residual(const float* a, const float* b, const float* d, float* r, int n, int k, int m) {
    __shared__ alignas(128) float p[2][32 * 40], q[2][32 * 40];
    int t = threadIdx.x, y0 = t / 64 * 16, x0 = t / 32 % 2 * 16;
    size_t wide = ((size_t)m + 31) / 32, top = blockIdx.x / wide * 32, left = blockIdx.x % wide * 32;
    Sums all, some;
    wmma::fill_fragment(all, 0.f);
    bool beyond = false;
    for (long long c0 = 0; c0 < k; c0 += 32) {
        for (int s = t; s < 1024; s += 128) {
            int y = s / 32, x = s % 32, at = y * 40 + x;
            float u = top + y < n && c0 + x < k ? a[(top + y) * k + c0 + x] : 0.f;
            float v = c0 + y < k && left + x < m ? b[(c0 + y) * m + left + x] : 0.f;
            // Where parts may be too large or too small to be told apart, or are none.
            beyond |= !(fabsf(u) < 1e16f && fabsf(v) < 1e16f);
            beyond |= (u != 0.f && fabsf(u) < 1e-16f) || (v != 0.f && fabsf(v) < 1e-16f);
            float hu = wmma::__float_to_tf32(u), hv = wmma::__float_to_tf32(v);
            p[0][at] = hu, p[1][at] = wmma::__float_to_tf32(u - hu);
            q[0][at] = hv, q[1][at] = wmma::__float_to_tf32(v - hv);
        }
        __syncthreads();
        for (int c = 0; c < 32; c += 8) {
            Rows high, low;
            Columns most, rest;
            wmma::load_matrix_sync(high, p[0] + y0 * 40 + c, 40);
            wmma::load_matrix_sync(low, p[1] + y0 * 40 + c, 40);
            wmma::load_matrix_sync(most, q[0] + c * 40 + x0, 40);
            wmma::load_matrix_sync(rest, q[1] + c * 40 + x0, 40);
            wmma::fill_fragment(some, 0.f);
            wmma::mma_sync(some, low, rest, some);
            wmma::mma_sync(some, low, most, some);
            wmma::mma_sync(some, high, rest, some);
            wmma::mma_sync(some, high, most, some);
            for (int e = 0; e < some.num_elements; ++e) all.x[e] += some.x[e];
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(p[0] + y0 * 40 + x0, all, 40, wmma::mem_row_major);
    bool plain = __syncthreads_or(beyond);
    for (int s = t; s < 1024; s += 128) {
        size_t i = top + s / 32, j = left + s % 32;
        if (i >= n || j >= m) continue;
        float sum = p[0][s / 32 * 40 + s % 32];
        if (plain) {
            sum = 0.f;
            for (long long c = 0; c < k; ++c) sum += a[i * k + c] * b[c * m + j];
        }
        r[i * m + j] = d[i * m + j] - sum;
    }
}
