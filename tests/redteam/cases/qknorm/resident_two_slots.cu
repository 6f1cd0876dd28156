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
    __shared__ float part[2][4];
    int turn = 0;
    for (int row = blockIdx.x; row < rows; row += gridDim.x, turn ^= 1) {
    __nv_bfloat16* mine = x + (size_t)row * dim;
    float squares = 0.0f;
    for (int j = threadIdx.x; j < dim; j += 128) {
        const float v = __bfloat162float(mine[j]);
        squares += v * v;
    }
    squares = warp_total(squares);
    if ((threadIdx.x & 31) == 0) part[turn][threadIdx.x >> 5] = squares;
    __syncthreads();
    const float total = part[turn][0] + part[turn][1] + part[turn][2] + part[turn][3];
    const float r = 1.0f / sqrtf(total / (float)dim + eps);
    for (int j = threadIdx.x; j < dim; j += 128)
        mine[j] = __float2bfloat16(__bfloat162float(mine[j]) * r * gain[j]);
    if (threadIdx.x == 0) rstd[row] = r;
    }
}
