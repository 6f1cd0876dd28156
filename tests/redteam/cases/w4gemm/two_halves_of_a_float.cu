#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

// On tensor cores: digits less zero are whole numbers that halves hold; a float of x is the sum of
// two halves, 22 of its 24 bits.
#define GROUP 128

using namespace nvcuda;

extern "C" __global__ void w4gemm(const float* x, const unsigned* weight, const float* scale,
                                  const unsigned char* zero, float* y, int m, int n, int k) {
    __shared__ __align__(128) __half a[2][16 * 16];
    __shared__ __align__(128) __half b[4][16 * 16];
    __shared__ __align__(128) float found[4][16 * 16];
    int warp = threadIdx.x / 32;
    int lane = threadIdx.x & 31;
    int left = blockIdx.x * 64 + warp * 16;
    int top = blockIdx.y * 16;
    int words = (k + 7) / 8;
    int groups = (k + GROUP - 1) / GROUP;
    float total[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    for (int g = 0; g < groups; g++) {
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
        wmma::fill_fragment(sum, 0.0f);
        int end = min(k, (g + 1) * GROUP);
        for (int from = g * GROUP; from < end; from += 16) {
            __syncthreads();
            for (int e = threadIdx.x; e < 256; e += 128) {
                int row = top + e / 16;
                int i = from + e % 16;
                float rest = row < m && i < end ? x[(size_t)row * k + i] : 0.0f;
                for (int part = 0; part < 2; part++) {
                    __half upper = __float2half_rn(rest);
                    a[part][e] = upper;
                    rest -= __half2float(upper);
                }
            }
            for (int e = lane; e < 256; e += 32) {
                int column = left + e / 16;
                int i = from + e % 16;
                float digit = 0.0f;
                if (column < n && i < end) {
                    unsigned word = weight[(size_t)column * words + i / 8];
                    digit = (float)((int)(word >> (4 * (i % 8)) & 15u) -
                                    (int)zero[(size_t)column * groups + g]);
                }
                b[warp][e] = __float2half(digit);
            }
            __syncthreads();
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
            wmma::load_matrix_sync(right, b[warp], 16);
            for (int part = 1; part >= 0; part--) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> one;
                wmma::load_matrix_sync(one, a[part], 16);
                wmma::mma_sync(sum, one, right, sum);
            }
        }
        wmma::store_matrix_sync(found[warp], sum, 16, wmma::mem_row_major);
        __syncwarp();
        for (int e = 0; e < 8; e++) {
            int column = left + (lane + 32 * e) % 16;
            if (column < n) {
                total[e] += found[warp][lane + 32 * e] * scale[(size_t)column * groups + g];
            }
        }
        __syncwarp();
    }
    for (int e = 0; e < 8; e++) {
        int row = top + (lane + 32 * e) / 16;
        int column = left + (lane + 32 * e) % 16;
        if (row < m && column < n) {
            y[(size_t)row * n + column] = total[e];
        }
    }
}
