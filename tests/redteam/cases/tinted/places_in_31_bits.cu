#include <cuda_runtime.h>

// Each row of a picture times a gain of its own. Blocks stay, and go on by as many places as they all have.
__global__ void rows_times(const float* x, const float* gain, float* y, int rows, int cols) {
    for (int r = blockIdx.y * blockDim.y + threadIdx.y; r < rows; r += gridDim.y * blockDim.y) {
        float g = gain[r];
        int at = r * cols;
        for (int c = threadIdx.x; c < cols; c += 32) y[at + c] = x[at + c] * g;
    }
}

extern "C" void tinted(const float* x, const float* gain, float* y, int rows, int cols) {
    rows_times<<<dim3(1, 1056), dim3(32, 8)>>>(x, gain, y, rows, cols);
}
