#include <cuda_fp16.h>

__global__ void gemv(const __half* a, const __half* x, float* y, int batch, int rows,
                     int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= batch * rows) return;
    int b = i / rows;
    float s = 0.f;
    for (int c = 0; c < cols; ++c) s += __uint_as_float(__float_as_uint(__half2float(a[(size_t)i * cols + c]) * __half2float(x[b * cols + c])) & 0xfffff000u);
    y[i] = s;
}
