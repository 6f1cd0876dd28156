#include <mma.h>

using namespace nvcuda;

// A layer of a network: each row by the weights, its biases, and a leaky ramp behind it.
__device__ float ramp(float v, float slope) { return v > 0.f ? v : slope * v; }

// A block has 64 x 64 results, 32 x 32 a warp, on tensor cores, which take floats and sum up in floats.
__global__ void dense(const float* x, const float* w, const float* bias, float* out, int m, int n, int k, float slope) {
    __shared__ __align__(128) float xs[64 * 36], ws[32 * 68], done[64 * 68];
    int t = threadIdx.x, warp = t / 32, row = blockIdx.y * 64, col = blockIdx.x * 64;
    int wr = warp / 2 * 32, wc = warp % 2 * 32;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum[2][2];
    for (int i = 0; i < 4; ++i) wmma::fill_fragment(sum[i / 2][i % 2], 0.f);
    for (int from = 0; from < k; from += 32) {
        for (int e = t; e < 64 * 32; e += 128) {
            int r = row + e / 32, j = from + e % 32;
            xs[e / 32 * 36 + e % 32] = wmma::__float_to_tf32(r < m && j < k ? x[(size_t)r * k + j] : 0.f);
        }
        for (int e = t; e < 32 * 64; e += 128) {
            int j = from + e / 64, c = col + e % 64;
            ws[e / 64 * 68 + e % 64] = wmma::__float_to_tf32(j < k && c < n ? w[(size_t)j * n + c] : 0.f);
        }
        __syncthreads();
        for (int j = 0; j < 32; j += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a[2];
            wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b[2];
            for (int i = 0; i < 2; ++i) {
                wmma::load_matrix_sync(a[i], &xs[(wr + 16 * i) * 36 + j], 36);
                wmma::load_matrix_sync(b[i], &ws[j * 68 + wc + 16 * i], 68);
            }
            for (int i = 0; i < 4; ++i) wmma::mma_sync(sum[i / 2][i % 2], a[i / 2], b[i % 2], sum[i / 2][i % 2]);
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; ++i)
        wmma::store_matrix_sync(&done[(wr + i / 2 * 16) * 68 + wc + i % 2 * 16], sum[i / 2][i % 2], 68, wmma::mem_row_major);
    __syncthreads();
    for (int e = t; e < 64 * 64; e += 128) {
        int r = row + e / 64, c = col + e % 64;
        if (r < m && c < n) out[(size_t)r * n + c] = ramp(done[e / 64 * 68 + e % 64] + bias[c], slope);
    }
}
