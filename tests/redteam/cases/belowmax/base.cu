#include <cuda_runtime.h>
#include <math.h>
__global__ void maxima(const float* x, float* part, int n) {
    __shared__ float s[256];
    float m = -INFINITY;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) m = fmaxf(m, x[i]);
    s[threadIdx.x] = m;
    __syncthreads();
    for (int w = 128; w > 0; w /= 2) {
        if (threadIdx.x < w) s[threadIdx.x] = fmaxf(s[threadIdx.x], s[threadIdx.x + w]);
        __syncthreads();
    }
    if (threadIdx.x == 0) part[blockIdx.x] = s[0];
}
__global__ void largest(float* part, int parts) {
    float m = -INFINITY;
    for (int i = 0; i < parts; ++i) m = fmaxf(m, part[i]);
    part[0] = m;
}
__global__ void below(const float* x, const float* part, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] - part[0];
}
// How far each number is below the largest of all.
extern "C" void belowmax(const float* x, float* y, int n) {
    float* part;
    cudaMalloc(&part, 256 * sizeof(float));
    maxima<<<256, 256>>>(x, part, n);
    largest<<<1, 1>>>(part, 256);
    below<<<(n + 255) / 256, 256>>>(x, part, y, n);
    cudaFree(part);
}
