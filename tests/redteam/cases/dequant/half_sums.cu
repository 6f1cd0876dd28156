#include <cuda_fp16.h>

__global__ void dequant(const signed char* w, const float* scale, const __half* x, __half* y,
                        int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int groups = (cols + 31) / 32;
    __half sum = __float2half(0.f);
    for (int c = 0; c < cols; ++c)
        sum = __hadd(sum, __float2half(scale[r * groups + c / 32] * w[(size_t)r * cols + c] * __half2float(x[c])));
    y[r] = sum;
}
