#include <cuda_runtime.h>
#define ROWS 4000

// A sparse matrix by its entries, in no order, times a vector.
__global__ void clear(float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < ROWS) y[i] = 0.f;
}

__global__ void add(const int* row, const int* column, const float* value, const float* x, float* y,
                    int m) {
    int e = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    int r = e < m ? row[e] : -1;
    float v = e < m ? value[e] * x[column[e]] : 0.f;
    unsigned same = __match_any_sync(0xffffffffu, r);
    // The first lane of a row adds what the others bring.
    float s = 0.f;
    for (int l = 0; l < 32; ++l) {
        float other = __shfl_sync(0xffffffffu, v, l);
        if (same >> l & 1u) s += other;
    }
    if (r >= 0 && __ffs(same) - 1 == lane) atomicAdd(&y[r], s);
}

extern "C" void coo(const int* row, const int* column, const float* value, const float* x, float* y,
                    int m) {
    clear<<<(ROWS + 127) / 128, 128>>>(y);
    add<<<(m + 127) / 128, 128>>>(row, column, value, x, y, m);
}
