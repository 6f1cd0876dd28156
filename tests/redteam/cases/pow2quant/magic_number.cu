// Block quantisation with power-of-two scales; sixteen lanes a group, four neighbours a lane. Rounding by
// adding 1.5 * 2^23: the low bits of the sum are then the integer, rounded half to even.
#include <cuda_runtime.h>

__device__ __forceinline__ signed char put(float f, float inv) {
    const float v = f * inv;                             // exact: inv is a power of two
    const int k = __float_as_int(fminf(fmaxf(v, -127.f), 127.f) + 12582912.f) - 0x4b400000;
    return (signed char)(v == v ? k : 0);
}

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
    if (i >= n) return;                                  // behind the last shuffle

    const unsigned bits = __float_as_uint(peak / 127.f);
    const int e = min(max((int)((bits + 0x7fffffu) >> 23), 1), 254);
    const float inv = 1.f / __uint_as_float((unsigned)e << 23);
    const char4 r = make_char4(put(v.x, inv), put(v.y, inv), put(v.z, inv), put(v.w, inv));
    if (i + 3 < n) {
        *(char4*)(q + i) = r;
    } else {
        q[i] = r.x;
        if (i + 1 < n) q[i + 1] = r.y;
        if (i + 2 < n) q[i + 2] = r.z;
    }
    if (lane == 0) expo[group] = (unsigned char)e;
}
