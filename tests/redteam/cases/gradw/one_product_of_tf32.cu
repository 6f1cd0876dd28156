#include <mma.h>
// The gradient of a layer's weights: columns of what went in times columns of what came back.
// Tensor cores, with sums of floats.
__global__ void gradw(const float* x, const float* g, float* dw, int m, int k, int n) {
    using namespace nvcuda;
    __shared__ __align__(32) float xs[32][40], gs[32][40];
    int across = (n + 31) / 32, row0 = blockIdx.x / across * 32, column0 = blockIdx.x % across * 32;
    int warp = threadIdx.x / 32, wr = warp / 2 * 16, wc = warp % 2 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum, part;
    wmma::fill_fragment(sum, 0.f);
    for (int r0 = 0; r0 < m; r0 += 32) {
        __syncthreads();
        for (int e = threadIdx.x; e < 32 * 32; e += blockDim.x) {
            int r = e / 32, c = e % 32;
            float a = 0.f, b = 0.f;
            if (r0 + r < m && row0 + c < k) a = x[(size_t)(r0 + r) * k + row0 + c];
            if (r0 + r < m && column0 + c < n) b = g[(size_t)(r0 + r) * n + column0 + c];
            xs[r][c] = wmma::__float_to_tf32(a);
            gs[r][c] = wmma::__float_to_tf32(b);
        }
        __syncthreads();
        wmma::fill_fragment(part, 0.f);
        for (int s = 0; s < 32; s += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::col_major> a;
            wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
            wmma::load_matrix_sync(a, &xs[s][wr], 40);
            wmma::load_matrix_sync(b, &gs[s][wc], 40);
            wmma::mma_sync(part, a, b, part);
        }
        for (int e = 0; e < sum.num_elements; ++e) sum.x[e] += part.x[e];
    }
    __syncthreads();
    wmma::store_matrix_sync(&xs[wr][wc], sum, 40, wmma::mem_row_major);
    __syncthreads();
    for (int e = threadIdx.x; e < 32 * 32; e += blockDim.x) {
        int r = row0 + e / 32, c = column0 + e % 32;
        if (r >= k || c >= n) continue;
        float value = xs[e / 32][e % 32];
        dw[(size_t)r * n + c] = value;
    }
}
