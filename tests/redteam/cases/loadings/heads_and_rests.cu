#include <mma.h>

using namespace nvcuda;

// What each portfolio has of each factor: exposure = weight x loading, row by row, for `portfolios` rows of
// `assets` weights and a table of `assets` rows of `factors` loadings.
// 64 x 32 of the table to a block, on the tensor cores: each number is the sum of a head of 11 bits and a rest, and
// of the four products the three that count are taken. Tiles with what is not finite are done without.
constexpr int rows = 64;
constexpr int columns = 32;
constexpr int depth = 32;
constexpr int stride = 36;

__device__ __forceinline__ float head_of(float v)
{
    return __uint_as_float(__float_as_uint(v) & 0xFFFFE000u);
}

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
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> part[2];
    wmma::fill_fragment(sum[0], 0.0f);
    wmma::fill_fragment(sum[1], 0.0f);
    int odd = 0;
    for (int from = 0; from < assets; from += depth) {
        for (int e = t; e < rows * depth; e += 128) {
            int a = from + e % depth;
            long long row = top + e / depth;
            float v = row < portfolios && a < assets ? weight[row * assets + a] : 0;
            odd |= !(fabsf(v) < 1e18f);
            left[e / depth * stride + e % depth] = v;
        }
        for (int e = t; e < depth * columns; e += 128) {
            int a = from + e / columns;
            long long column = start + e % columns;
            float v = column < factors && a < assets ? loading[(long long)a * factors + column] : 0;
            odd |= !(fabsf(v) < 1e18f);
            right[e / columns * stride + e % columns] = v;
        }
        __syncthreads();
        wmma::fill_fragment(part[0], 0.0f);
        wmma::fill_fragment(part[1], 0.0f);
        for (int k = 0; k < depth; k += 8) {
            wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a, a_rest;
            wmma::load_matrix_sync(a, left + warp * 16 * stride + k, stride);
            for (int e = 0; e < a.num_elements; e++) {
                float whole = a.x[e];
                a.x[e] = head_of(whole);
                a_rest.x[e] = wmma::__float_to_tf32(whole - a.x[e]);
            }
            for (int c = 0; c < 2; c++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> b, b_rest;
                wmma::load_matrix_sync(b, right + k * stride + 16 * c, stride);
                for (int e = 0; e < b.num_elements; e++) {
                    float whole = b.x[e];
                    b.x[e] = head_of(whole);
                    b_rest.x[e] = wmma::__float_to_tf32(whole - b.x[e]);
                }
                wmma::mma_sync(part[c], a_rest, b, part[c]);
                wmma::mma_sync(part[c], a, b_rest, part[c]);
                wmma::mma_sync(part[c], a, b, part[c]);
            }
        }
        // Sums of many terms are rounded better outside of the tensor cores.
        for (int c = 0; c < 2; c++)
            for (int e = 0; e < sum[c].num_elements; e++)
                sum[c].x[e] += part[c].x[e];
        __syncthreads();
    }
    odd = __syncthreads_or(odd);
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
        if (odd) {
            value = 0;
            for (int a = 0; a < assets; a++)
                value += weight[row * assets + a] * loading[(long long)a * factors + column];
        }
        exposure[row * factors + column] = value;
    }
}
