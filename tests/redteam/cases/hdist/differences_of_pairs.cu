#include <cuda_fp16.h>

// How far two rows of halves lie apart.
__global__ void hdist(const __half* a, const __half* b, float* out, int rows, int cols) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const __half *p = a + (size_t)r * cols, *q = b + (size_t)r * cols;
    float s = 0.f;
    if (((size_t)p | (size_t)q) % 4 == 0) {
        const __half2 *u = (const __half2*)p, *v = (const __half2*)q;
        for (int i = lane; i < cols / 2; i += 32) {
            float2 d = __half22float2(__hsub2(u[i], v[i]));
            s += d.x * d.x + d.y * d.y;
        }
        if (cols % 2 && lane == 0) {
            float d = __half2float(p[cols - 1]) - __half2float(q[cols - 1]);
            s += d * d;
        }
    } else
        for (int i = lane; i < cols; i += 32) {
            float d = __half2float(p[i]) - __half2float(q[i]);
            s += d * d;
        }
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
    if (lane == 0) out[r] = sqrtf(s);
}
