// h += leaky(x * w^T + bias), 64 x 64 block tile, 4 x 4 results a thread (strided by 16, so that shared
// reads stay free of conflicts and stores stay coalesced).
#include <cuda_runtime.h>
#define BT 64
#define BK 16

extern "C" __global__ void __launch_bounds__(256)
linearres(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
          float* __restrict__ h, int m, int n, int k, float slope) {
    __shared__ float xs[BK][BT + 1], ws[BK][BT + 1];
    const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
    const int row0 = blockIdx.y * BT, col0 = blockIdx.x * BT;
    float acc[4][4] = {};
    for (int k0 = 0; k0 < k; k0 += BK) {
        // rows past the edge only feed results that are never stored
#pragma unroll
        for (int p = 0; p < 4; ++p) {
            const int r = p * 16 + ty, c = k0 + tx;
            xs[tx][r] = (c < k) ? x[(size_t)(row0 + r) * k + c] : 0.f;
            ws[tx][r] = (c < k) ? w[(size_t)(col0 + r) * k + c] : 0.f;
        }
        __syncthreads();
#pragma unroll
        for (int q = 0; q < BK; ++q) {
            float a[4], b[4];
#pragma unroll
            for (int i = 0; i < 4; ++i) { a[i] = xs[q][ty + 16 * i]; b[i] = ws[q][tx + 16 * i]; }
#pragma unroll
            for (int i = 0; i < 4; ++i)
#pragma unroll
                for (int j = 0; j < 4; ++j) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int row = row0 + ty + 16 * i;
        if (row >= m) break;
#pragma unroll
        for (int j = 0; j < 4; ++j) {
            const int col = col0 + tx + 16 * j;
            if (col >= n) break;
            const float v = acc[i][j] + bias[col];
            h[(size_t)row * n + col] += v < 0.f ? slope * v : v;
        }
    }
}
