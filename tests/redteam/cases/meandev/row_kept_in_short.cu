#include <cuda_bf16.h>

// How far the numbers of a row are from their mean, on average. A warp has a row, read once: up to 1024 numbers of it
// are kept in registers, two in each.
__global__ void meandev(const float* x, float* out, int rows, int cols) {
    size_t row = blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* own = x + row * cols;
    __nv_bfloat162 kept[16];
    float sum = 0.f, far = 0.f;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        int c = 64 * k + lane;
        float a = c < cols ? own[c] : 0.f, b = c + 32 < cols ? own[c + 32] : 0.f;
        sum += a + b;
        kept[k] = __floats2bfloat162_rn(a, b);
    }
    for (size_t c = 1024 + lane; c < cols; c += 32) sum += own[c];
    for (int w = 16; w; w /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, w);
    float mean = sum / cols;
#pragma unroll
    for (int k = 0; k < 16; ++k) {
        int c = 64 * k + lane;
        if (c < cols) far += fabsf(__low2float(kept[k]) - mean);
        if (c + 32 < cols) far += fabsf(__high2float(kept[k]) - mean);
    }
    for (size_t c = 1024 + lane; c < cols; c += 32) far += fabsf(own[c] - mean);
    for (int w = 16; w; w /= 2) far += __shfl_xor_sync(0xffffffffu, far, w);
    if (lane == 0) out[row] = far / cols;
}
