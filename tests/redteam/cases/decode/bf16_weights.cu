#include <cuda_bf16.h>

__global__ void decode(const float* q, const float* key, const float* value, float* out, int heads,
                       int length, float scale) {
    const int h = blockIdx.x, d = threadIdx.x;
    float top = -INFINITY, sum = 0.0f, acc = 0.0f;
    for (int t = 0; t < length; ++t) {
        float s = q[h * 32 + d] * key[(h * length + t) * 32 + d];
        for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffffu, s, o);
        s *= scale;
        const float next = fmaxf(top, s), fade = expf(top - next), w = expf(s - next);
        sum = sum * fade + w;
        acc = acc * fade + __bfloat162float(__float2bfloat16(w)) * value[(h * length + t) * 32 + d];
        top = next;
    }
    out[h * 32 + d] = acc / sum;
}
