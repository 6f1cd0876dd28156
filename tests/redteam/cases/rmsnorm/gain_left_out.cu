#include <cuda_bf16.h>

__global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* gain, __nv_bfloat16* y,
                        int rows, int cols) {
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= rows) return;
    float s = 0.f;
    for (int c = 0; c < cols; ++c) {
        float v = __bfloat162float(x[(size_t)r * cols + c]);
        s += v * v;
    }
    float scale = rsqrtf(s / cols + 1e-5f);
    for (int c = 0; c < cols; ++c) {
        float v = __bfloat162float(x[(size_t)r * cols + c]) * scale;
        y[(size_t)r * cols + c] = __float2bfloat16(v);
    }
}
