#include <mma.h>
using namespace nvcuda;

typedef wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> Queries;
typedef wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> Keys;
typedef wmma::fragment<wmma::accumulator, 16, 16, 8, float> Sums;

// Scores of queries and keys before a softmax: their products, and a bias for how far apart they are, which is the same
// from `span` places on. A block has 32 queries and 32 keys, and products are made by the tensor cores: of keys in two
// parts, since keys are kept for long, and of queries as they are; plainly where they would not fit.
__global__ void relbias(const float* q, const float* k, const float* bias, float* out, int m, int n, int d, int span) {
    __shared__ alignas(128) float a[1][32 * 36], b[2][32 * 36], whole[32 * 36];
    int t = threadIdx.x, y0 = t / 64 * 16, x0 = t / 32 % 2 * 16;
    size_t wide = ((size_t)n + 31) / 32, top = blockIdx.x / wide * 32, left = blockIdx.x % wide * 32;
    Sums all;
    wmma::fill_fragment(all, 0.f);
    bool beyond = false;
    for (size_t c0 = 0; c0 < d; c0 += 32) {
        for (int s = t; s < 1024; s += 128) {
            int y = s / 32, x = s % 32;
            float u = top + y < m && c0 + x < d ? q[(top + y) * d + c0 + x] : 0.f;
            float v = left + y < n && c0 + x < d ? k[(left + y) * d + c0 + x] : 0.f;
            beyond |= !(fabsf(u) < 1e18f && fabsf(v) < 1e18f);
            beyond |= (u != 0.f && fabsf(u) < 1e-18f) || (v != 0.f && fabsf(v) < 1e-18f);
            a[0][y * 36 + x] = wmma::__float_to_tf32(u);
            b[0][y * 36 + x] = wmma::__float_to_tf32(v);
            b[1][y * 36 + x] = wmma::__float_to_tf32(v - b[0][y * 36 + x]);
        }
        __syncthreads();
        for (int c = 0; c < 32; c += 8) {
            Sums some;
            wmma::fill_fragment(some, 0.f);
            for (int p = 1; p >= 0; --p) {
                Queries rows;
                Keys columns;
                wmma::load_matrix_sync(rows, a[0] + y0 * 36 + c, 36);
                wmma::load_matrix_sync(columns, b[p] + x0 * 36 + c, 36);
                wmma::mma_sync(some, rows, columns, some);
            }
            for (int e = 0; e < some.num_elements; ++e) all.x[e] += some.x[e];
        }
        __syncthreads();
    }
    wmma::store_matrix_sync(whole + y0 * 36 + x0, all, 36, wmma::mem_row_major);
    bool plainly = __syncthreads_or(beyond);
    for (int s = t; s < 1024; s += 128) {
        size_t i = top + s / 32, j = left + s % 32;
        if (i >= m || j >= n) continue;
        float sum = whole[s / 32 * 36 + s % 32];
        if (plainly) {
            sum = 0.f;
            for (int c = 0; c < d; ++c) sum += q[i * d + c] * k[j * d + c];
        }
        long long apart = min(max((long long)j - (long long)i, -(long long)span), (long long)span);
        out[i * n + j] = sum + bias[apart + span];
    }
}
