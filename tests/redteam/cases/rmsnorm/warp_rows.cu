#include <cuda_bf16.h>

__global__ void rmsnorm(const __nv_bfloat16* x, const __nv_bfloat16* gain, __nv_bfloat16* y,
                        int rows, int cols) {
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    float s = 0.f;
    for (int c = lane; c < cols; c += 32) {
        float v = __bfloat162float(x[(size_t)r * cols + c]);
        s += v * v;
    }
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
    float scale = rsqrtf(s / cols + 1e-5f);
    for (int c = lane; c < cols; c += 32) {
        float v = __bfloat162float(x[(size_t)r * cols + c]);
        y[(size_t)r * cols + c] = __float2bfloat16(v * (scale * __bfloat162float(gain[c])));
    }
}
