#include <cuda_fp16.h>
__global__ void hsum(const __half* x, __half* out, int rows, int cols) {
    int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const __half* row = x + (size_t)r * cols;
    float s = 0.f;
    if (cols % 2 == 0) {
        const __half2* two = (const __half2*)row;
        for (int c = lane; c < cols / 2; c += 32) {
            float2 v = __half22float2(two[c]);
            s += v.x + v.y;
        }
    } else {
        for (int c = lane; c < cols; c += 32) s += __half2float(row[c]);
    }
    for (int w = 16; w; w /= 2) s += __shfl_xor_sync(0xffffffffu, s, w);
    if (lane == 0) out[r] = __float2half(s / cols);
}
