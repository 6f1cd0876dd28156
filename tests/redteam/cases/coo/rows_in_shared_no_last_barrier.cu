#include <cuda_runtime.h>
#define ROWS 4000

// A sparse matrix by its entries, in no order, times a vector.
__global__ void clear(float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < ROWS) y[i] = 0.f;
}

__global__ void add(const int* row, const int* column, const float* value, const float* x, float* y,
                    int m) {
    __shared__ float mine[ROWS];
    for (int i = threadIdx.x; i < ROWS; i += blockDim.x) mine[i] = 0.f;
    __syncthreads();
    for (int e = blockIdx.x * blockDim.x + threadIdx.x; e < m; e += gridDim.x * blockDim.x)
        atomicAdd(&mine[row[e]], value[e] * x[column[e]]);
    __syncwarp();
    for (int i = threadIdx.x; i < ROWS; i += blockDim.x)
        if (mine[i] != 0.f) atomicAdd(&y[i], mine[i]);
}

extern "C" void coo(const int* row, const int* column, const float* value, const float* x, float* y,
                    int m) {
    clear<<<(ROWS + 127) / 128, 128>>>(y);
    add<<<66, 512>>>(row, column, value, x, y, m);
}
