#include <cuda_fp16.h>

__global__ void dequant(const signed char* w, const float* scale, const __half* x, __half* y,
                        int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int groups = (cols + 31) / 32, last = cols / 32 - 1;
    float sum = 0.f;
    for (int c = 0; c < cols; ++c)
        sum += scale[r * groups + min(c / 32, max(last, 0))] * w[(size_t)r * cols + c] * __half2float(x[c]);
    y[r] = __float2half(sum);
}
