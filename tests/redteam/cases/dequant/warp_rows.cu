#include <cuda_fp16.h>

__global__ void dequant(const signed char* w, const float* scale, const __half* x, __half* y,
                        int rows, int cols) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    int groups = (cols + 31) / 32;
    float sum = 0.f;
    for (int g = 0; g < groups; ++g) {
        int c = g * 32 + lane;
        float part = c < cols ? (float)w[(size_t)r * cols + c] * __half2float(x[c]) : 0.f;
        sum += scale[r * groups + g] * part;
    }
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (lane == 0) y[r] = __float2half(sum);
}
