// Block quantisation with power-of-two scales; sixteen lanes a group, four neighbours a lane, one float4
// load and one char4 store each. Groups begin at multiples of 64, so both are aligned.
#include <cuda_runtime.h>

extern "C" __global__ void pow2quant(const float* __restrict__ x, signed char* __restrict__ q,
                                     unsigned char* __restrict__ expo, int n) {
    const int lane = threadIdx.x & 15;
    const int group = blockIdx.x * (blockDim.x / 16) + (threadIdx.x >> 4);
    const int i = group * 64 + lane * 4;
    float4 v = make_float4(0.f, 0.f, 0.f, 0.f);
    if (i + 3 < n) {
        v = *(const float4*)(x + i);
    } else {
        if (i < n) v.x = x[i];
        if (i + 1 < n) v.y = x[i + 1];
        if (i + 2 < n) v.z = x[i + 2];
    }
    float peak = fmaxf(fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))), 0.f);
    for (int o = 8; o; o >>= 1) peak = fmaxf(peak, __shfl_xor_sync(~0u, peak, o));
    if (group >= (n + 63) / 64) return;

    const unsigned bits = __float_as_uint(peak / 127.f);
    const int e = min(max((int)(bits >> 23) + ((bits & 0x7fffffu) != 0), 1), 254);
    const float scale = __uint_as_float((unsigned)e << 23);
    auto put = [&](float f) { return (signed char)max(-127, min(127, __float2int_rn(f / scale))); };
    if (i < n) *(char4*)(q + i) = make_char4(put(v.x), put(v.y), put(v.z), put(v.w));
    if (lane == 0) expo[group] = (unsigned char)e;
}
