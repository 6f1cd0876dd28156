#include <cuda_runtime.h>

// Each row of a picture times a gain of its own; a block to a row, found once.
__global__ void rows_times(const float* x, const float* gain, float* y, int rows, int cols) {
    const float* from = x + (size_t)blockIdx.x * cols;
    float *to = y + (size_t)blockIdx.x * cols, g = gain[blockIdx.x];
    for (int c = threadIdx.x; c < cols; c += blockDim.x) to[c] = from[c] * g;
}

extern "C" void tinted(const float* x, const float* gain, float* y, int rows, int cols) {
    rows_times<<<rows, 256>>>(x, gain, y, rows, cols);
}
