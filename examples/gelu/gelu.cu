// Bias + GELU (tanh approximation), the activation between the two layers of a transformer MLP:
//
//     v = x + bias
//     y = 0.5 * v * (1 + tanh(sqrt(2 / pi) * (v + 0.044715 * v^3)))
#include <cmath>
#include <cuda_runtime.h>

#ifndef M_PI
#define M_PI 3.14159265358979323846
#endif

__global__ void bias_gelu_kernel(const float* x, const float* bias, float* y, int rows, int cols)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < rows * cols) {
        float v = x[i] + bias[i % cols];
        float inner = sqrt(2.0 / M_PI) * (v + 0.044715 * pow(v, 3.0));
        y[i] = 0.5 * v * (1.0 + tanh(inner));
    }
}

void bias_gelu(const float* x, const float* bias, float* y, int rows, int cols)
{
    int threads = 512;
    int blocks = (rows * cols + threads - 1) / threads;
    bias_gelu_kernel<<<blocks, threads>>>(x, bias, y, rows, cols);
}
