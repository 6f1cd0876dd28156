#include <cuda_runtime.h>

// Each row of a picture times a gain of its own; a block to a row, so that nothing is divided.
__global__ void rows_times(const float* x, const float* gain, float* y, int rows, int cols) {
    int row = blockIdx.x;
    float g = gain[row];
    for (int c = threadIdx.x; c < cols; c += blockDim.x) y[row * cols + c] = x[row * cols + c] * g;
}

extern "C" void tinted(const float* x, const float* gain, float* y, int rows, int cols) {
    rows_times<<<rows, 256>>>(x, gain, y, rows, cols);
}
