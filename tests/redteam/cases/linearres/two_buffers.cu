// h += leaky(x * w^T + bias), tiles staged ahead: the loads of the next tile are issued before the
// product of this one, so one barrier a step is enough.
#include <cuda_runtime.h>
#define T 16
#define STAGES 2

extern "C" __global__ void __launch_bounds__(T * T)
linearres(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
          float* __restrict__ h, int m, int n, int k, float slope) {
    __shared__ float xs[STAGES][T][T + 1], ws[STAGES][T][T + 1];
    const int tx = threadIdx.x, ty = threadIdx.y;
    const int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    const int wrow = blockIdx.x * T + ty;
    const int steps = (k + T - 1) / T;

    auto stage = [&](int s, int slot) {
        const int c = s * T + tx;
        xs[slot][ty][tx] = (row < m && c < k) ? x[(size_t)row * k + c] : 0.f;
        ws[slot][ty][tx] = (wrow < n && c < k) ? w[(size_t)wrow * k + c] : 0.f;
    };

    float acc = 0.f;
    int cur = 0;
    stage(0, 0);
    for (int s = 0; s < steps; ++s) {
        const int next = cur + 1 == STAGES ? 0 : cur + 1;
        if (s + 1 < steps) stage(s + 1, next);
        __syncthreads();
#pragma unroll
        for (int i = 0; i < T; ++i) acc += xs[cur][ty][i] * ws[cur][tx][i];
        cur = next;
    }
    if (row < m && col < n) {
        const float v = acc + bias[col];
        h[(size_t)row * n + col] += v < 0.f ? slope * v : v;
    }
}
