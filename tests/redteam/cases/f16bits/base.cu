#include <cuda_fp16.h>

// The 16 bits of each number as a half: to nearest, ties to even, small ones without a leading one; whatever
// is no number becomes the same one.
__global__ void f16bits(const float* x, unsigned short* y, int n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned u = __float_as_uint(x[i]), sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;
    if (a > 0x7f800000u)
        y[i] = 0x7fff;
    else if (a >= 0x477ff000u)
        y[i] = (unsigned short)(sign | 0x7c00u);
    else if (a < 0x38800000u)
        y[i] = (unsigned short)(sign | __float2uint_rn(__uint_as_float(a) * 16777216.f));
    else
        y[i] = (unsigned short)(sign | (a + 0xfffu + (a >> 13 & 1u) - 0x38000000u) >> 13);
}
