#include <cuda_fp16.h>
#include <mma.h>
__device__ float rounded(float v) { return nvcuda::wmma::__float_to_tf32(v); }
__global__ void matmul(const float* a, const float* b, float* c, int n) {
    using namespace nvcuda;
    __shared__ __align__(32) float p[2][16][8], q[2][8][16], r[16][16];
    int t = threadIdx.x, x0 = blockIdx.x * 16, y0 = blockIdx.y * 16;
    wmma::fragment<wmma::accumulator, 16, 16, 8, float> sum, small;
    wmma::fill_fragment(sum, 0.f);
    wmma::fill_fragment(small, 0.f);
    for (int k0 = 0; k0 < n; k0 += 8) {
        for (int e = t; e < 128; e += 32) {
            int y = y0 + e / 8, k = k0 + e % 8;
            float v = y < n && k < n ? a[y * n + k] : 0.f, hi = rounded(v);
            p[0][e / 8][e % 8] = hi;
            p[1][e / 8][e % 8] = rounded(v - hi);
            k = k0 + e / 16;
            int x = x0 + e % 16;
            v = x < n && k < n ? b[k * n + x] : 0.f, hi = rounded(v);
            q[0][e / 16][e % 16] = hi;
            q[1][e / 16][e % 16] = rounded(v - hi);
        }
        __syncwarp();
        wmma::fragment<wmma::matrix_a, 16, 16, 8, wmma::precision::tf32, wmma::row_major> f, fl;
        wmma::fragment<wmma::matrix_b, 16, 16, 8, wmma::precision::tf32, wmma::row_major> g, gl;
        wmma::load_matrix_sync(f, &p[0][0][0], 8);
        wmma::load_matrix_sync(g, &q[0][0][0], 16);
        wmma::load_matrix_sync(fl, &p[1][0][0], 8);
        wmma::load_matrix_sync(gl, &q[1][0][0], 16);
        wmma::fragment<wmma::accumulator, 16, 16, 8, float> now;
        wmma::fill_fragment(now, 0.f);
        wmma::mma_sync(now, f, g, now);
        for (int e = 0; e < sum.num_elements; ++e) sum.x[e] += now.x[e];
        __syncwarp();
    }
    for (int e = 0; e < sum.num_elements; ++e) sum.x[e] += small.x[e];
    wmma::store_matrix_sync(&r[0][0], sum, 16, wmma::mem_row_major);
    __syncwarp();
    for (int e = t; e < 256; e += 32)
        if (y0 + e / 16 < n && x0 + e % 16 < n) c[(y0 + e / 16) * n + x0 + e % 16] = r[e / 16][e % 16];
}
