// Block quantisation with power-of-two scales: 64 neighbouring floats share one biased exponent e, the
// smallest with max|x| <= 127 * 2^(e-127) after rounding max|x| / 127; q = round-half-even(x / scale).
// NaN does not take part in the maximum and becomes 0, infinities saturate. One warp a group.
#include <cuda_runtime.h>

extern "C" __global__ void pow2quant(const float* x, signed char* q, unsigned char* expo, int n) {
    const int lane = threadIdx.x & 31;
    const int group = blockIdx.x * (blockDim.x / 32) + (threadIdx.x >> 5);
    if (group >= (n + 63) / 64) return;
    const int i = group * 64 + lane, j = i + 32;
    const float a = i < n ? x[i] : 0.f, b = j < n ? x[j] : 0.f;

    float peak = fmaxf(fmaxf(fabsf(a), fabsf(b)), 0.f);
    for (int o = 16; o; o >>= 1) peak = fmaxf(peak, __shfl_xor_sync(~0u, peak, o));

    const unsigned bits = __float_as_uint(peak / 127.f);
    int e = (int)(bits >> 23) + ((bits & 0x7fffffu) != 0);
    e = min(max(e, 1), 254);
    const float scale = __uint_as_float((unsigned)e << 23);
    if (i < n) q[i] = (signed char)max(-127, min(127, __float2int_rn(a / scale)));
    if (j < n) q[j] = (signed char)max(-127, min(127, __float2int_rn(b / scale)));
    if (lane == 0) expo[group] = (unsigned char)e;
}
