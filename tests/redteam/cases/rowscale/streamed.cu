#include <cuda_runtime.h>
__global__ void rowscale_kernel(const float* x, float* y, int rows, int cols) {
    int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    float s = 0.f;
    for (int c = lane; c < cols; c += 32) { float v = __ldg(in + c); s += v * v; }
    for (int w = 16; w; w /= 2) s += __shfl_xor_sync(0xffffffffu, s, w);
    float f = rsqrtf(s / cols + 1e-4f);
    for (int c = lane; c < cols; c += 32) __stcs(y + (size_t)r * cols + c, __ldcs(in + c) * f);
}
extern "C" void rowscale(const float* x, float* y, int rows, int cols) {
    rowscale_kernel<<<(rows + 3) / 4, 128>>>(x, y, rows, cols);
}
