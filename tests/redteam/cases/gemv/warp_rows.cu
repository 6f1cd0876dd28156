#include <cuda_fp16.h>
__global__ void gemv(const __half* a, const __half* x, float* y, int batch, int rows, int cols) {
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (i >= batch * rows) return;
    int b = i / rows;
    float s = 0.f;
    for (int c = lane; c < cols; c += 32) s = fmaf(__half2float(a[(size_t)i * cols + c]), __half2float(x[b * cols + c]), s);
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
    if (lane == 0) y[i] = s;
}
