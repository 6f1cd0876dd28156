#include <cuda_fp16.h>

// How far two rows of halves lie apart.
__global__ void hdist(const __half* a, const __half* b, float* out, int rows, int cols) {
    int r = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (r >= rows) return;
    const __half *p = a + (size_t)r * cols, *q = b + (size_t)r * cols;
    float s = 0.f;
    // Up to the first place where both can be read in eights, the eights, and what is left.
    int head = min((int)((16 - (size_t)p % 16) % 16 / 2), cols);
    if ((size_t)p % 16 != (size_t)q % 16) head = cols;
    int eights = (cols - head) / 8;
    const uint4 *u = (const uint4*)(p + head), *v = (const uint4*)(q + head);
    for (int i = lane; i < eights; i += 32) {
        uint4 c = u[i], e = v[i];
        const __half2 *left = (const __half2*)&c, *right = (const __half2*)&e;
        for (int k = 0; k < 4; ++k) {
            float2 f = __half22float2(left[k]), g = __half22float2(right[k]);
            s += (f.x - g.x) * (f.x - g.x) + (f.y - g.y) * (f.y - g.y);
        }
    }
    for (int i = lane; i < cols; i += 32) {
        if (i >= head && i < head + 8 * eights) continue;
        float d = __half2float(p[i]) - __half2float(q[i]);
        s += d * d;
    }
    for (int d = 16; d > 0; d /= 2) s += __shfl_xor_sync(0xffffffffu, s, d);
    if (lane == 0) out[r] = sqrtf(s);
}
