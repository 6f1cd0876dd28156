#include <cstdio>
#include <cuda_runtime.h>
__global__ void smooth_kernel(const float* x, float* y, int n) {
    __shared__ float s[258];
    int i = blockIdx.x * 256 + threadIdx.x, t = threadIdx.x + 1;
    if (i < n) s[t] = x[i];
    if (threadIdx.x == 0 && i < n) s[0] = i > 0 ? x[i - 1] : x[i];
    if (i < n && (threadIdx.x == 255 || i == n - 1)) s[t + 1] = i + 1 < n ? x[i + 1] : x[i];
    __syncthreads();
    if (i < n) y[i] = 0.25f * s[t - 1] + 0.5f * s[t] + 0.25f * s[t + 1];
}
extern "C" void smooth(const float* x, float* y, int n) {
    smooth_kernel<<<(n + 255) / 256, 256>>>(x, y, n);
}
