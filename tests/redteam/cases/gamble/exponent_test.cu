#include <cuda_bf16.h>

// What is not a number has all exponent bits set; everything else is rounded by the one addition.
extern "C" __global__ void gamble(__nv_bfloat16* __restrict__ weight, const float* __restrict__ grad,
                                  const unsigned short* __restrict__ noise, int n, float rate)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = __fmaf_rn(-rate, grad[i], __bfloat162float(weight[i]));
    unsigned bits = __float_as_uint(x);
    unsigned r = (bits + noise[i]) >> 16;
    if ((r & 0x7f80u) == 0x7f80u) r = 0x7fffu;
    weight[i] = __ushort_as_bfloat16((unsigned short)r);
}
