// Block quantisation with power-of-two scales; magnitudes are compared as unsigned bit patterns (which
// order like the numbers), so that the maximum of the warp is one redux instruction.
#include <cuda_runtime.h>

extern "C" __global__ void pow2quant(const float* __restrict__ x, signed char* __restrict__ q,
                                     unsigned char* __restrict__ expo, int n) {
    const int lane = threadIdx.x & 31;
    const int group = blockIdx.x * (blockDim.x / 32) + (threadIdx.x >> 5);
    if (group >= (n + 63) / 64) return;
    const int i = group * 64 + lane, j = i + 32;
    const float a = i < n ? x[i] : 0.f, b = j < n ? x[j] : 0.f;

    const unsigned ma = __float_as_uint(fabsf(a)), mb = __float_as_uint(fabsf(b));
    const float peak = __uint_as_float(__reduce_max_sync(~0u, max(ma, mb)));

    const unsigned bits = __float_as_uint(peak / 127.f);
    const int e = min(max((int)((bits + 0x7fffffu) >> 23), 1), 254);
    const float scale = __uint_as_float((unsigned)e << 23);
    const float inv = 1.f / scale;                       // a power of two as well: the product is exact
    if (i < n) q[i] = (signed char)max(-127, min(127, __float2int_rn(a * inv)));
    if (j < n) q[j] = (signed char)max(-127, min(127, __float2int_rn(b * inv)));
    if (lane == 0) expo[group] = (unsigned char)e;
}
