#include <mma.h>

using namespace nvcuda;

// What each portfolio has of each factor: exposure = weight x loading, row by row, for `portfolios` rows of
// `assets` weights and a table of `assets` rows of `factors` loadings.
// 64 x 32 of the table to a block, on the tensor cores.
constexpr int rows = 64;
constexpr int columns = 32;
constexpr int depth = 32;
constexpr int stride = 36;

extern "C" __global__ void loadings(const float* weight, const float* loading, float* exposure, int portfolios, int assets,
                                    int factors)
{
    __shared__ __align__(128) float left[rows * stride];
    __shared__ __align__(128) float right[depth * stride];
    int t = threadIdx.x;
    int warp = t / 32;
    long long top = (long long)blockIdx.x * rows;
    long long start = (long long)blockIdx.y * columns;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum[2];
    wmma::fill_fragment(sum[0], 0.0f);
    wmma::fill_fragment(sum[1], 0.0f);
    for (int from = 0; from < assets; from += depth) {
        for (int e = t; e < rows * depth; e += 128) {
            int a = from + e % depth;
            long long row = top + e / depth;
            float v = row < portfolios && a < assets ? weight[row * assets + a] : 0;
            left[e / depth * stride + e % depth] = v;
        }
        for (int e = t; e < depth * columns; e += 128) {
            int a = from + e / columns;
            long long column = start + e % columns;
            float v = column < factors && a < assets ? loading[(long long)a * factors + column] : 0;
            right[e / columns * stride + e % columns] = v;
        }
        __syncthreads();
        for (int k = 0; k < depth; k += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
            wmma::load_matrix_sync(a, left + warp * 16 * stride + k, stride);
            for (int e = 0; e < a.num_elements; e++)
                a.x[e] = wmma::__float_to_tf32(a.x[e]);
            for (int c = 0; c < 2; c++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b;
                wmma::load_matrix_sync(b, right + k * stride + 16 * c, stride);
                for (int e = 0; e < b.num_elements; e++)
                    b.x[e] = wmma::__float_to_tf32(b.x[e]);
                wmma::mma_sync(sum[c], a, b, sum[c]);
            }
        }
        __syncthreads();
    }
    // The tile goes out through shared memory, as it may be cut on two sides.
    for (int c = 0; c < 2; c++)
        wmma::store_matrix_sync(left + warp * 16 * stride + 16 * c, sum[c], stride, wmma::mem_row_major);
    __syncthreads();
    for (int e = t; e < rows * columns; e += 128) {
        long long row = top + e / columns;
        long long column = start + e % columns;
        if (row >= portfolios || column >= factors)
            continue;
        float value = left[e / columns * stride + e % columns];
        exposure[row * factors + column] = value;
    }
}
