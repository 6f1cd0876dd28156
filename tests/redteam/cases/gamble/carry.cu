#include <cuda_bf16.h>

// Rounds up in magnitude when the noise carries out of the 16 bits that are dropped.
extern "C" __global__ void gamble(__nv_bfloat16* __restrict__ weight, const float* __restrict__ grad,
                                  const unsigned short* __restrict__ noise, int n, float rate)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned short* out = reinterpret_cast<unsigned short*>(weight);
    float w = __uint_as_float((unsigned)out[i] << 16);
    float x = __fmaf_rn(-rate, grad[i], w);
    unsigned bits = __float_as_uint(x);
    unsigned dropped = bits & 0xffffu;
    unsigned r = (bits >> 16) + (dropped > 0xffffu - noise[i] ? 1u : 0u);
    out[i] = (bits << 1) > 0xff000000u ? (unsigned short)0x7fff : (unsigned short)r;
}
