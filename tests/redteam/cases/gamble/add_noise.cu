#include <cuda_bf16.h>

// The noise is added as a number of units in the last place of the float, away from zero; then the
// lower half of the float is dropped.
extern "C" __global__ void gamble(__nv_bfloat16* weight, const float* grad, const unsigned short* noise,
                                  int n, float rate)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = __fmaf_rn(-rate, grad[i], __bfloat162float(weight[i]));
    float size = fabsf(x);
    unsigned r = 0x7fffu;
    if (size < __int_as_float(0x7f800000)) {
        unsigned power = max(__float_as_uint(size) & 0x7f800000u, 0x00800000u);
        float unit = __uint_as_float(power) * 1.1920928955078125e-7f;       // 2^-23
        float y = size + (float)noise[i] * unit;
        r = __float_as_uint(y) >> 16 | (__float_as_uint(x) >> 31) << 15;
    } else if (x == x) {
        r = __float_as_uint(x) >> 16;
    }
    weight[i] = __ushort_as_bfloat16((unsigned short)r);
}
