#include <cuda_bf16.h>

// Two weights a thread, put together with one byte permutation; a last single one is done by itself.
__device__ __forceinline__ unsigned dithered(float x, unsigned noise)
{
    return x == x ? __float_as_uint(x) + noise : 0x7fff0000u;
}

extern "C" __global__ void gamble(__nv_bfloat16* weight, const float* grad, const unsigned short* noise,
                                  int n, float rate)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    unsigned short* out = reinterpret_cast<unsigned short*>(weight);
    if (i + 1 == n) {
        float x = __fmaf_rn(-rate, grad[i], __bfloat162float(weight[i]));
        out[i] = (unsigned short)(dithered(x, noise[i]) >> 16);
        return;
    }
    unsigned w = *reinterpret_cast<const unsigned*>(out + i);
    unsigned z = *reinterpret_cast<const unsigned*>(noise + i);
    float2 g = *reinterpret_cast<const float2*>(grad + i);
    unsigned a = dithered(__fmaf_rn(-rate, g.x, __uint_as_float(w << 16)), z & 0xffffu);
    unsigned b = dithered(__fmaf_rn(-rate, g.y, __uint_as_float(w & 0xffff0000u)), z >> 16);
    *reinterpret_cast<unsigned*>(out + i) = __byte_perm(a, b, 0x7632);
}
