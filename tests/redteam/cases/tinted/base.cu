#include <cuda_runtime.h>

// Each row of a picture times a gain of its own.
__global__ void rows_times(const float* x, const float* gain, float* y, int rows, int cols) {
    size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (size_t)rows * cols) y[i] = x[i] * gain[i / cols];
}

extern "C" void tinted(const float* x, const float* gain, float* y, int rows, int cols) {
    size_t n = (size_t)rows * cols;
    rows_times<<<(unsigned)((n + 255) / 256), 256>>>(x, gain, y, rows, cols);
}
