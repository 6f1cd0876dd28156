#include <cuda_runtime.h>
#define ROWS 4000

// A sparse matrix by its entries, in no order, times a vector.
__global__ void clear(float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < ROWS) y[i] = 0.f;
}

__global__ void add(const int* row, const int* column, const float* value, const float* x, float* y,
                    int m) {
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < m) atomicAdd(&y[row[e]], value[e] * x[column[e]]);
}

extern "C" void coo(const int* row, const int* column, const float* value, const float* x, float* y,
                    int m) {
    clear<<<(ROWS + 127) / 128, 128>>>(y);
    add<<<(m + 127) / 128, 128>>>(row, column, value, x, y, m);
}
