// How unlike are plots and sites?  For n plots and s sites with d species counts each:
//   out[i][j] = sum over species of |a-b| / (|a|+|b|)
// Where both counts are zero, or one of them is missing (NaN), the species counts for nothing.
// Tiles of 64 x 64 pairs, 16 species deep, 4 x 4 pairs per thread.
// The next tile is on its way (cp.async, zero filled at the edges) while this one is worked on.
#include <cuda_pipeline.h>
#define T 64
#define D 16

__device__ __forceinline__ void fetch(float (*A)[T + 4], float (*B)[T + 4], const float* plot, const float* site,
                                      int r0, int c0, int k, int n, int s, int d)
{
    for (int i = threadIdx.x; i < T * D; i += 256) {
        const int r = i / D, c = i % D;
        const bool in = k + c < d, a = in && r0 + r < n, b = in && c0 + r < s;
        __pipeline_memcpy_async(&A[c][r], a ? plot + (size_t)(r0 + r) * d + k + c : plot, 4, a ? 0 : 4);
        __pipeline_memcpy_async(&B[c][r], b ? site + (size_t)(c0 + r) * d + k + c : site, 4, b ? 0 : 4);
    }
}

extern "C" __global__ void __launch_bounds__(256) savanna(const float* __restrict__ plot, const float* __restrict__ site,
                                                          float* __restrict__ out, int n, int s, int d)
{
    __shared__ float A[2][D][T + 4], B[2][D][T + 4];
    const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    const int r0 = blockIdx.y * T, c0 = blockIdx.x * T;
    const int tiles = (d + D - 1) / D;
    float acc[4][4] = {};
    fetch(A[0], B[0], plot, site, r0, c0, 0, n, s, d);
    __pipeline_commit();
    for (int g = 0; g < tiles; g++) {
        const int now = g & 1;
        if (g + 1 < tiles) {
            fetch(A[now ^ 1], B[now ^ 1], plot, site, r0, c0, (g + 1) * D, n, s, d);
            __pipeline_commit();
        }
        __pipeline_wait_prior(1);
        __syncthreads();
#pragma unroll
        for (int c = 0; c < D; c++) {
            float a[4], b[4];
#pragma unroll
            for (int i = 0; i < 4; i++) { a[i] = A[now][c][ty + 16 * i]; b[i] = B[now][c][tx + 16 * i]; }
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    const float den = fabsf(a[i]) + fabsf(b[j]);
                    if (den > 0.f) acc[i][j] += fabsf(a[i] - b[j]) / den;
                }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int r = r0 + ty + 16 * i, c = c0 + tx + 16 * j;
            if (r < n && c < s) out[(size_t)r * s + c] = acc[i][j];
        }
}
