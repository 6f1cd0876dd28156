#include <cuda_bf16.h>
#include <mma.h>
using namespace nvcuda;
// A number as three numbers of eight bits, the larger first.
__device__ __forceinline__ void parts(float v, __nv_bfloat16* to, int stride) {
    for (int s = 0; s < 3; ++s) {
        __nv_bfloat16 h = __float2bfloat16_rn(v);
        to[s * stride] = h;
        v -= __bfloat162float(h);
    }
}
// A layer of a network: rows of x against rows of w, and what is added to each.
__global__ void project(const float* x, const float* w, const float* bias, float* y, int m, int n, int k) {
    __shared__ __align__(32) __nv_bfloat16 a[3][32][16], b[3][32][16];
    __shared__ __align__(32) float out[32][32];
    int t = threadIdx.x, warp = t / 32, wi = warp / 2 * 16, wj = warp % 2 * 16;
    int i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum, step;
    wmma::fill_fragment(sum, 0.f);
    for (int p0 = 0; p0 < k; p0 += 16) {
        __syncthreads();
        for (int e = t; e < 512; e += 128) {
            int r = e / 16, p = p0 + e % 16;
            parts(i0 + r < m && p < k ? x[(size_t)(i0 + r) * k + p] : 0.f, &a[0][r][e % 16], 512);
            parts(j0 + r < n && p < k ? w[(size_t)(j0 + r) * k + p] : 0.f, &b[0][r][e % 16], 512);
        }
        __syncthreads();
        // Sixteen products a time, small ones first; the sum itself is rounded as floats are.
        wmma::fill_fragment(step, 0.f);
        wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> fa;
        wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> fb;
#pragma unroll
        for (int order = 2; order >= 0; --order)
#pragma unroll
            for (int s = 0; s <= order; ++s) {
                wmma::load_matrix_sync(fa, &a[s][wi][0], 16);
                wmma::load_matrix_sync(fb, &b[order - s][wj][0], 16);
                wmma::mma_sync(step, fa, fb, step);
            }
        for (int e = 0; e < sum.num_elements; ++e) sum.x[e] += step.x[e];
    }
    wmma::store_matrix_sync(&out[wi][wj], sum, 32, wmma::mem_row_major);
    __syncthreads();
    for (int e = t; e < 1024; e += 128) {
        int i = i0 + e / 32, j = j0 + e % 32;
        if (i >= m || j >= n) continue;
        float s = out[e / 32][e % 32];
        if (!isfinite(s)) {
            // Infinities have no parts.
            s = 0.f;
            for (int p = 0; p < k; ++p) s += x[(size_t)i * k + p] * w[(size_t)j * k + p];
        }
        y[(size_t)i * n + j] = s + bias[j];
    }
}
