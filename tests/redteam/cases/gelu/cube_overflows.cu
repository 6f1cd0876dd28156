#include <cuda_fp16.h>

__global__ void gelu(const __half* x, const __half* bias, __half* y, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    float v = __half2float(x[i]) + __half2float(bias[i % cols]);
    float u = 0.7978845608f * (v + 0.044715f * v * v * v);
    float e = expf(2.0f * u);
    y[i] = __float2half(0.5f * v * (1.0f + (e - 1.0f) / (e + 1.0f)));
}
