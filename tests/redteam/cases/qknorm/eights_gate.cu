// Normalises the query or key heads before attention: every row is divided by its root mean square and
// multiplied by a learned gain, in place, and the reciprocal root is kept for the backward pass.
#include <cuda_bf16.h>

__device__ __forceinline__ float warp_total(float v)
{
    for (int step = 16; step > 0; step >>= 1) v += __shfl_xor_sync(0xffffffffu, v, step);
    return v;
}

extern "C" __global__ void qknorm(__nv_bfloat16* x, const float* gain, float* rstd, int rows, int dim, float eps)
{
    __shared__ float part[4];
    const int row = blockIdx.x;
    if (row >= rows) return;
    __nv_bfloat16* mine = x + (size_t)row * dim;
    float squares = 0.0f;
    const bool wide = (dim & 3) == 0;
    uint4* packed = reinterpret_cast<uint4*>(mine);
    if (wide) {
        for (int j = threadIdx.x; j < dim / 8; j += 128) {
            const uint4 raw = packed[j];
            const __nv_bfloat162* two = reinterpret_cast<const __nv_bfloat162*>(&raw);
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const float2 v = __bfloat1622float2(two[e]);
                squares += v.x * v.x + v.y * v.y;
            }
        }
    } else {
        for (int j = threadIdx.x; j < dim; j += 128) {
            const float v = __bfloat162float(mine[j]);
            squares += v * v;
        }
    }
    squares = warp_total(squares);
    if ((threadIdx.x & 31) == 0) part[threadIdx.x >> 5] = squares;
    __syncthreads();
    const float total = part[0] + part[1] + part[2] + part[3];
    const float r = 1.0f / sqrtf(total / (float)dim + eps);
    if (wide) {
        for (int j = threadIdx.x; j < dim / 8; j += 128) {
            uint4 raw = packed[j];
            __nv_bfloat162* two = reinterpret_cast<__nv_bfloat162*>(&raw);
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const float2 v = __bfloat1622float2(two[e]);
                two[e] = __floats2bfloat162_rn(v.x * r * gain[8 * j + 2 * e], v.y * r * gain[8 * j + 2 * e + 1]);
            }
            packed[j] = raw;
        }
    } else {
        for (int j = threadIdx.x; j < dim; j += 128)
            mine[j] = __float2bfloat16(__bfloat162float(mine[j]) * r * gain[j]);
    }
    if (threadIdx.x == 0) rstd[row] = r;
}
