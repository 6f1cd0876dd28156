#include <cstdio>
#include <cuda_runtime.h>
__global__ void smooth_kernel(const float* x, float* y, int n) {
    extern __shared__ float s[];
    int first = blockIdx.x * 16384, last = min(n, first + 16384);
    for (int i = first + (int)threadIdx.x - 1; i < last + 1; i += 512)
        s[i - first + 1] = x[min(max(i, 0), n - 1)];
    __syncthreads();
    for (int i = first + (int)threadIdx.x; i < last; i += 512)
        y[i] = 0.25f * s[i - first] + 0.5f * s[i - first + 1] + 0.25f * s[i - first + 2];
}
extern "C" void smooth(const float* x, float* y, int n) {
    const int bytes = (16384 + 2) * 4;
    cudaFuncSetAttribute(smooth_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    smooth_kernel<<<(n + 16383) / 16384, 512, bytes>>>(x, y, n);
}
