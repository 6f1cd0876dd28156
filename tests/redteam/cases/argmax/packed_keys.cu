#include <cstdint>
__device__ unsigned ordered(float v) {
    int b = __float_as_int(v + 0.f);
    return b < 0 ? ~b : b | 0x80000000u;
}
__global__ void argmax(const float* x, int* best, int rows, int cols) {
    int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    if (r >= rows) return;
    const float* in = x + (size_t)r * cols;
    unsigned long long top = 0;
    for (int c = lane; c < cols; c += 32) {
        float v = in[c];
        unsigned long long key = (unsigned long long)ordered(v) << 32 | (UINT32_MAX - c);
        if (v == v && key > top) top = key;
    }
    for (int w = 16; w; w /= 2) {
        unsigned long long other = __shfl_xor_sync(0xffffffffu, top, w);
        top = other > top ? other : top;
    }
    bool none = in[0] != in[0] || top == 0;
    if (lane == 0) best[r] = none ? 0 : (int)(UINT32_MAX - (unsigned)top);
}
