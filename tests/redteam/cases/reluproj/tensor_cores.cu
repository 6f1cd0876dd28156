// Projection with a ReLU: out[m][n] = relu(a[m][k] * w[k][n] + bias[n]); half in and out, sums in float.
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

#define T 16      // tile of one wmma operation
#define BT 64     // tile of a block of four warps: each warp has 16 rows of it

__global__ void __launch_bounds__(128) project(const __half* a, const __half* w, const float* bias, __half* out, int m, int n, int k)
{
    __shared__ __align__(32) __half at[BT][T + 8];     // rows of 48 bytes, 16 rows are a multiple of 32 bytes
    __shared__ __align__(32) __half wt[T][BT + 8];
    __shared__ __align__(32) float sums[BT][BT + 4];
    const int row0 = blockIdx.y * BT, col0 = blockIdx.x * BT, warp = threadIdx.x >> 5;
    wmma::fragment<wmma::accumulator, T, T, T, float> acc[BT / T];
    for (int j = 0; j < BT / T; ++j) wmma::fill_fragment(acc[j], 0.0f);
    const __half zero = __float2half_rn(0.0f);
    for (int k0 = 0; k0 < k; k0 += T) {
        for (int i = threadIdx.x; i < BT * T; i += 128) {
            const int r = i / T, c = i % T;
            at[r][c] = row0 + r < m && k0 + c < k ? a[(size_t)(row0 + r) * k + k0 + c] : zero;
        }
        for (int i = threadIdx.x; i < T * BT; i += 128) {
            const int r = i / BT, c = i % BT;
            wt[r][c] = k0 + r < k && col0 + c < n ? w[(size_t)(k0 + r) * n + col0 + c] : zero;
        }
        __syncthreads();
        wmma::fragment<wmma::matrix_a, T, T, T, __half, wmma::row_major> fa;
        wmma::load_matrix_sync(fa, &at[warp * T][0], T + 8);
        for (int j = 0; j < BT / T; ++j) {
            wmma::fragment<wmma::matrix_b, T, T, T, __half, wmma::row_major> fb;
            wmma::load_matrix_sync(fb, &wt[0][j * T], BT + 8);
            wmma::mma_sync(acc[j], fa, fb, acc[j]);
        }
        __syncthreads();
    }
    for (int j = 0; j < BT / T; ++j)
        wmma::store_matrix_sync(&sums[warp * T][j * T], acc[j], BT + 4, wmma::mem_row_major);
    __syncthreads();
    for (int i = threadIdx.x; i < BT * BT; i += 128) {
        const int r = row0 + i / BT, c = col0 + i % BT;
        if (r < m && c < n) out[(size_t)r * n + c] = __float2half_rn(fmaxf(sums[i / BT][i % BT] + bias[c], 0.0f));
    }
}

extern "C" void reluproj(const __half* a, const __half* w, const float* bias, __half* out, int m, int n, int k)
{
    const dim3 grid((n + BT - 1) / BT, (m + BT - 1) / BT);
    project<<<grid, 128>>>(a, w, bias, out, m, n, k);
}
