#include <cuda_fp16.h>

__global__ void gelu(const __half* x, const __half* bias, __half* y, int rows, int cols) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= rows * cols) return;
    int c = i % cols;
    for (int k = 0; k < 2 && i + k < rows * cols; ++k) {
        float v = __half2float(x[i + k]) + __half2float(bias[min(c + k, cols - 1)]);
        float t = tanhf(0.7978845608f * (v + 0.044715f * v * v * v));
        y[i + k] = __float2half(0.5f * v * (1.0f + t));
    }
}
