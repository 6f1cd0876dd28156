#include <cuda_runtime.h>

__global__ void across(const float* m, float* row, int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float sum = 0.f;
    for (int c = 0; c < cols; ++c) sum += m[(size_t)r * cols + c];
    row[r] = sum;
}

__global__ void down(const float* m, float* col, int rows, int cols) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= cols) return;
    float sum = 0.f;
    for (int r = 0; r < rows; ++r) sum += m[(size_t)r * cols + c];
    col[c] = sum;
}

// The sums of a matrix along its rows and along its columns.
extern "C" void margins(const float* m, float* row, float* col, int rows, int cols) {
    across<<<(rows + 127) / 128, 128>>>(m, row, rows, cols);
    down<<<(cols + 127) / 128, 128>>>(m, col, rows, cols);
}
