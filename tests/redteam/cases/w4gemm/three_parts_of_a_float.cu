#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <mma.h>

// On tensor cores: digits less zero are whole numbers that bf16 holds; a float of x is the sum of
// three bf16, each of which takes the next eight of its bits.
#define GROUP 128

using namespace nvcuda;

extern "C" __global__ void w4gemm(const float* x, const unsigned* weight, const float* scale,
                                  const unsigned char* zero, float* y, int m, int n, int k) {
    __shared__ __align__(128) __nv_bfloat16 a[3][16 * 16];
    __shared__ __align__(128) __nv_bfloat16 b[4][16 * 16];
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
                bool finite = fabsf(rest) < INFINITY;
                for (int part = 0; part < 3; part++) {
                    unsigned bits = __float_as_uint(rest);
                    unsigned upper = bits & 0xffff0000u;
                    if (rest != rest) {
                        upper |= 0x00400000u;
                    }
                    a[part][e] = __ushort_as_bfloat16((unsigned short)(upper >> 16));
                    rest = finite ? rest - __uint_as_float(upper) : 0.0f;
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
                b[warp][e] = __float2bfloat16(digit);
            }
            __syncthreads();
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __nv_bfloat16, wmma::col_major> right;
            wmma::load_matrix_sync(right, b[warp], 16);
            for (int part = 2; part >= 0; part--) {
                wmma::fragment<wmma::matrix_a, 16, 16, 16, __nv_bfloat16, wmma::row_major> one;
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
