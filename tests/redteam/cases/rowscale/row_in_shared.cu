#include <cuda_runtime.h>
__global__ void rowscale_kernel(const float* x, float* y, int rows, int cols) {
    extern __shared__ float row[];
    __shared__ float part[8];
    const float* in = x + (size_t)blockIdx.x * cols;
    float s = 0.f;
    for (int c = threadIdx.x; c < cols; c += 256) { float v = row[c] = in[c]; s += v * v; }
    for (int w = 16; w; w /= 2) s += __shfl_xor_sync(0xffffffffu, s, w);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    s = 0.f;
    for (int k = 0; k < 8; ++k) s += part[k];
    float f = rsqrtf(s / cols + 1e-4f);
    for (int c = threadIdx.x; c < cols; c += 256) y[(size_t)blockIdx.x * cols + c] = row[c] * f;
}
extern "C" void rowscale(const float* x, float* y, int rows, int cols) {
    rowscale_kernel<<<rows, 256, cols * sizeof(float)>>>(x, y, rows, cols);
}
