#include <cuda_bf16.h>

// Infinities have no bits below the cut, so the noise cannot carry into them and no test is needed.
// A NaN keeps its set exponent for the same reason and only has to get its full payload.
extern "C" __global__ void gamble(__nv_bfloat16* __restrict__ weight, const float* __restrict__ grad,
                                  const unsigned short* __restrict__ noise, int n, float rate)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = __fmaf_rn(-rate, grad[i], __bfloat162float(weight[i]));
    unsigned bits = __float_as_uint(x) + noise[i];
    if ((bits & 0x7fffffffu) > 0x7f80ffffu) bits = 0x7fff0000u;
    weight[i] = __ushort_as_bfloat16((unsigned short)(bits >> 16));
}
