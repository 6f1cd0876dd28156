#include <cuda_runtime.h>
#include <math.h>
__global__ void maxima(const float* x, float* part, int n) {
    __shared__ float s[8];
    float m = -INFINITY;
    int first = blockIdx.x * blockDim.x + threadIdx.x, all = gridDim.x * blockDim.x;
    int quads = (size_t)x % 16 == 0 ? n / 4 : 0;
    for (int i = first; i < quads; i += all) {
        float4 v = ((const float4*)x)[i];
        m = fmaxf(m, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
    }
    for (int i = 4 * quads + first; i < n; i += all) m = fmaxf(m, x[i]);
    for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_down_sync(0xffffffffu, m, d));
    if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = m;
    __syncthreads();
    if (threadIdx.x < 32) {
        m = threadIdx.x < 8 ? s[threadIdx.x] : -INFINITY;
        for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_down_sync(0xffffffffu, m, d));
        if (threadIdx.x == 0) part[blockIdx.x] = m;
    }
}
__global__ void largest(float* part, int parts) {
    float m = -INFINITY;
    // Four blocks a multiprocessor make more of them.
    parts = 528;
    for (int i = threadIdx.x; i < parts; i += 32) m = fmaxf(m, part[i]);
    for (int d = 16; d > 0; d /= 2) m = fmaxf(m, __shfl_down_sync(0xffffffffu, m, d));
    if (threadIdx.x == 0) part[0] = m;
}
__global__ void below(const float* x, const float* part, float* y, int n) {
    float m = part[0];
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = x[i] - m;
}
// How far each number is below the largest of all.
extern "C" void belowmax(const float* x, float* y, int n) {
    float* part;
    cudaMalloc(&part, 256 * sizeof(float));
    maxima<<<528, 256>>>(x, part, n);
    largest<<<1, 32>>>(part, 256);
    below<<<(n + 1023) / 1024, 256>>>(x, part, y, n);
    cudaFree(part);
}
