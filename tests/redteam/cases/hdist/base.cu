#include <cuda_fp16.h>

// How far two rows of halves lie apart.
__global__ void hdist(const __half* a, const __half* b, float* out, int rows, int cols) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const __half *p = a + (size_t)r * cols, *q = b + (size_t)r * cols;
    float s = 0.f;
    for (int i = lane; i < cols; i += 32) {
        float d = __half2float(p[i]) - __half2float(q[i]);
        s += d * d;
    }
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
    if (lane == 0) out[r] = sqrtf(s);
}
