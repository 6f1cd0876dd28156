// Normalises the query or key heads before attention: one warp per row.
#include <cuda_bf16.h>

extern "C" __global__ void qknorm(__nv_bfloat16* x, const float* gain, float* rstd, int rows, int dim, float eps)
{
    const long long row = (long long)blockIdx.x * 4 + (threadIdx.x >> 5);
    const int lane = threadIdx.x & 31;
    if (row >= rows) return;
    __nv_bfloat16* mine = x + (size_t)row * dim;
    float a = 0.0f, c = 0.0f;
    int j = lane;
    for (; j + 32 < dim; j += 64) {
        const float v = __bfloat162float(mine[j]);
        const float w = __bfloat162float(mine[j + 32]);
        a = fmaf(v, v, a);
        c = fmaf(w, w, c);
    }
    if (j < dim) {
        const float v = __bfloat162float(mine[j]);
        a = fmaf(v, v, a);
    }
    a += c;
    for (int step = 16; step > 0; step >>= 1) a += __shfl_xor_sync(0xffffffffu, a, step);
    const float r = 1.0f / sqrtf(a / (float)dim + eps);
    for (j = lane; j < dim; j += 32)
        mine[j] = __float2bfloat16(__bfloat162float(mine[j]) * r * gain[j]);
    if (lane == 0) rstd[row] = r;
}
