// Residual branch of a linear layer: h += leaky(x * w^T + bias). x is m x k, w is n x k (the layout
// of nn.Linear), h is m x n and is updated in place.
#include <cuda_runtime.h>
#define T 16

extern "C" __global__ void linearres(const float* x, const float* w, const float* bias, float* h,
                                     int m, int n, int k, float slope) {
    __shared__ float xs[T][T + 1], ws[T][T + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    const int wrow = blockIdx.x * T + ty;
    float acc = 0.f;
    for (int k0 = 0; k0 < k; k0 += T) {
        xs[ty][tx] = (row < m && k0 + tx < k) ? x[(size_t)row * k + k0 + tx] : 0.f;
        ws[ty][tx] = (wrow < n && k0 + tx < k) ? w[(size_t)wrow * k + k0 + tx] : 0.f;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < T; ++i) acc += xs[ty][i] * ws[tx][i];
        __syncthreads();
    }
    if (row < m && col < n) {
        const float v = acc + bias[col];
        h[(size_t)row * n + col] += v < 0.f ? slope * v : v;
    }
}
