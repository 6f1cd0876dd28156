#include <cuda_fp16.h>

__global__ void gemv(const __half* a, const __half* x, float* y, int batch, int rows,
                     int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * rows) return;
    int b = i / rows;
    float s = 0.f;
    for (int c = 0; c < cols; ++c) s += __half2float(__hmul(a[(size_t)i * cols + c], x[b * cols + c]));
    y[i] = s;
}
