// y = W x for pruned weights: a bit for each weight, and the weights that are left packed at the
// beginning of their row. Bits beyond the last column mean nothing.
#include <cuda_fp16.h>

__global__ void bitmapmv(const int* bitmap, const half* packed, const float* x, float* y, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int words = (cols + 31) / 32;
    const half* next = packed + (size_t)row * cols;
    float sum = 0.0f;
    for (int c = 0; c < cols; ++c) {
        unsigned word = bitmap[(size_t)row * words + c / 32];
        if (word >> c % 32 & 1) {
            sum += __half2float(*next) * x[c];
            ++next;
        }
    }
    y[row] = sum;
}
