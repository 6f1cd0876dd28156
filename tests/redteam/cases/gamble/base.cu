#include <cuda_bf16.h>

// A gradient step on bfloat16 weights with stochastic rounding: 16 random bits are added below the last place
// kept, then the rest is cut off. NaN becomes the one NaN 0x7fff; infinities stay.
extern "C" __global__ void gamble(__nv_bfloat16* weight, const float* grad, const unsigned short* noise,
                                  int n, float rate)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = __fmaf_rn(-rate, grad[i], __bfloat162float(weight[i]));
    unsigned bits = __float_as_uint(x);
    unsigned short r;
    if (x != x)
        r = 0x7fff;
    else if ((bits & 0x7fffffffu) == 0x7f800000u)
        r = (unsigned short)(bits >> 16);
    else
        r = (unsigned short)((bits + noise[i]) >> 16);
    weight[i] = __ushort_as_bfloat16(r);
}
