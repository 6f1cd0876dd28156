#include <mma.h>
using namespace nvcuda;

// Takes away from a number what eleven bits hold of it.
__device__ float taken(float& v) {
    float part = __uint_as_float(__float_as_uint(v) & 0xffffe000u);
    v -= part;
    return part;
}

// How alike spectra are, by tensor cores: three parts hold all bits of a float, and the six products that count are made
// of them. The unit's own sum has eight lines; ordinary additions do the rest.
__global__ void spectra(const float* measured, const float* library, const float* trust, const float* purity, float* score,
                        int n, int m, int lines) {
    __shared__ alignas(32) float left[3][32][8], right[3][32][8], all[32][32];
    int t = threadIdx.x, warp = t / 32, across = (m + 31) / 32;
    int i0 = blockIdx.x / across * 32, j0 = blockIdx.x % across * 32, iw = warp / 2 * 16, jw = warp % 2 * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum, eight;
    wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> a[3];
    wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::col_major> b[3];
    wmma::fill_fragment(sum, 0.f);
    for (int l0 = 0; l0 < lines; l0 += 8) {
        __syncthreads();
        for (int e = t; e < 256; e += 128) {
            int r = e / 8, l = e % 8;
            bool line = l0 + l < lines;
            float u = line && i0 + r < n ? measured[(size_t)(i0 + r) * lines + l0 + l] : 0.f;
            float v = line && j0 + r < m ? library[(size_t)(j0 + r) * lines + l0 + l] : 0.f;
            for (int k = 0; k < 3; ++k) {
                left[k][r][l] = taken(u);
                right[k][r][l] = taken(v);
            }
        }
        __syncthreads();
        for (int k = 0; k < 3; ++k) {
            wmma::load_matrix_sync(a[k], &left[k][iw][0], 8);
            wmma::load_matrix_sync(b[k], &right[k][jw][0], 8);
        }
        wmma::fill_fragment(eight, 0.f);
        for (int small = 2; small >= 0; --small)
            for (int k = 0; k <= small; ++k) wmma::mma_sync(eight, a[k], b[small - k], eight);
        for (int k = 0; k < sum.num_elements; ++k) sum.x[k] += eight.x[k];
    }
    wmma::store_matrix_sync(&all[iw][jw], sum, 32, wmma::mem_row_major);
    __syncthreads();
    for (int e = t; e < 1024; e += 128) {
        int i = i0 + e / 32, j = j0 + e % 32;
        if (i >= n || j >= m) continue;
        float v = all[e / 32][e % 32];
        if (!isfinite(v)) {
            // What is infinite has no parts: it is done as ever.
            v = 0.f;
            for (int l = 0; l < lines; ++l) v += measured[(size_t)i * lines + l] * library[(size_t)j * lines + l];
        }
        score[(size_t)i * m + j] = v * trust[i] * purity[j];
    }
}
