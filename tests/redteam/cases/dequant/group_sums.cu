#include <cuda_fp16.h>

__global__ void dequant(const signed char* w, const float* scale, const __half* x, __half* y,
                        int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    int groups = (cols + 31) / 32;
    float sum = 0.f;
    for (int g = 0; g < groups; ++g) {
        float part = 0.f;
        for (int c = g * 32; c < min(cols, g * 32 + 32); ++c)
            part += w[(size_t)r * cols + c] * __half2float(x[c]);
        sum += scale[r * groups + g] * part;
    }
    y[r] = __float2half(sum);
}
