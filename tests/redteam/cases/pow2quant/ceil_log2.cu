// Block quantisation with power-of-two scales; the exponent by ceil(log2()) and exp2 instead of bit tests.
#include <cuda_runtime.h>

extern "C" __global__ void pow2quant(const float* __restrict__ x, signed char* __restrict__ q,
                                     unsigned char* __restrict__ expo, int n) {
    const int lane = threadIdx.x & 31;
    const int group = blockIdx.x * (blockDim.x / 32) + (threadIdx.x >> 5);
    if (group >= (n + 63) / 64) return;
    const int i = group * 64 + lane, j = i + 32;
    const float a = i < n ? x[i] : 0.f, b = j < n ? x[j] : 0.f;

    float peak = fmaxf(fmaxf(fabsf(a), fabsf(b)), 0.f);
    for (int o = 16; o; o >>= 1) peak = fmaxf(peak, __shfl_xor_sync(~0u, peak, o));

    const float p = ceilf(log2f(peak / 127.f));          // -inf for a group of zeros
    const int e = (int)fminf(fmaxf(p + 127.f, 1.f), 254.f);
    const float inv = __uint_as_float((unsigned)(254 - e) << 23);
    const float scale = __uint_as_float((unsigned)e << 23);
    const float u = e == 254 ? a / scale : a * inv, v = e == 254 ? b / scale : b * inv;
    if (i < n) q[i] = (signed char)max(-127, min(127, __float2int_rn(u)));
    if (j < n) q[j] = (signed char)max(-127, min(127, __float2int_rn(v)));
    if (lane == 0) expo[group] = (unsigned char)e;
}
