#include <mma.h>
using namespace nvcuda;

// How alike spectra are, by tensor cores, which round lines to the nearest of eleven bits and add up floats.
__global__ void spectra(const float* measured, const float* library, const float* trust, const float* purity, float* score,
                        int n, int m, int lines) {
    __shared__ alignas(32) float left[32][16], right[32][16], all[32][32];
    int t = threadIdx.x, warp = t / 32, across = (m + 31) / 32;
    int i0 = blockIdx.x / across * 32, j0 = blockIdx.x % across * 32, iw = warp / 2 * 16, jw = warp % 2 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum;
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> b;
    wmma::fill_fragment(sum, 0.f);
    for (int l0 = 0; l0 < lines; l0 += 16) {
        __syncthreads();
        for (int e = t; e < 512; e += 128) {
            int r = e / 16, l = e % 16;
            bool line = l0 + l < lines;
            left[r][l] = wmma::__float_to_tf32(line && i0 + r < n ? measured[(size_t)(i0 + r) * lines + l0 + l] : 0.f);
            right[r][l] = wmma::__float_to_tf32(line && j0 + r < m ? library[(size_t)(j0 + r) * lines + l0 + l] : 0.f);
        }
        __syncthreads();
        for (int l = 0; l < 16; l += 8) {
            wmma::load_matrix_sync(a, &left[iw][l], 16);
            wmma::load_matrix_sync(b, &right[jw][l], 16);
            wmma::mma_sync(sum, a, b, sum);
        }
    }
    wmma::store_matrix_sync(&all[iw][jw], sum, 32, wmma::mem_row_major);
    __syncthreads();
    for (int e = t; e < 1024; e += 128) {
        int i = i0 + e / 32, j = j0 + e % 32;
        if (i < n && j < m) score[(size_t)i * m + j] = all[e / 32][e % 32] * trust[i] * purity[j];
    }
}
