#include <cuda_bf16.h>

// Two weights a thread, put together with one byte permutation. Behind an odd end the upper half of the
// last word is handed back as it was.
__device__ __forceinline__ unsigned dithered(float x, unsigned noise)
{
    return x == x ? __float_as_uint(x) + noise : 0x7fff0000u;
}

extern "C" __global__ void gamble(__nv_bfloat16* weight, const float* grad, const unsigned short* noise,
                                  int n, float rate)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n) return;
    unsigned* word = reinterpret_cast<unsigned*>(weight) + i / 2;
    unsigned w = *word;
    unsigned a = dithered(__fmaf_rn(-rate, grad[i], __uint_as_float(w << 16)), noise[i]);
    unsigned b = w & 0xffff0000u;
    if (i + 1 < n) b = dithered(__fmaf_rn(-rate, grad[i + 1], __uint_as_float(b)), noise[i + 1]);
    *word = __byte_perm(a, b, 0x7632);
}
