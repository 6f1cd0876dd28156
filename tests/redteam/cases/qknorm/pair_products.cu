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
    if ((dim & 1) == 0) {
        // two elements per load, squared together
        const __nv_bfloat162* two = reinterpret_cast<const __nv_bfloat162*>(mine);
        for (int j = threadIdx.x; j < dim / 2; j += 128) {
            const __nv_bfloat162 v = two[j];
            const float2 s = __bfloat1622float2(__hmul2(v, v));
            squares += s.x + s.y;
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
    for (int j = threadIdx.x; j < dim; j += 128)
        mine[j] = __float2bfloat16(__bfloat162float(mine[j]) * r * gain[j]);
    if (threadIdx.x == 0) rstd[row] = r;
}
