#include <cuda_bf16.h>

// Eight weights a thread through 16-byte accesses; the rest at the end goes one by one.
__device__ __forceinline__ unsigned rounded(unsigned w, float g, unsigned noise, float rate)
{
    float x = __fmaf_rn(-rate, g, __uint_as_float(w << 16));
    return x == x ? (__float_as_uint(x) + noise) >> 16 : 0x7fffu;
}

extern "C" __global__ void gamble(__nv_bfloat16* weight, const float* __restrict__ grad,
                                  const unsigned short* __restrict__ noise, int n, float rate)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
    unsigned short* out = reinterpret_cast<unsigned short*>(weight);
    if (i + 8 <= n) {
        uint4 w = *reinterpret_cast<const uint4*>(out + i);
        uint4 z = *reinterpret_cast<const uint4*>(noise + i);
        float4 a = *reinterpret_cast<const float4*>(grad + i);
        float4 b = *reinterpret_cast<const float4*>(grad + i + 4);
        uint4 r;
        r.x = rounded(w.x & 0xffffu, a.x, z.x & 0xffffu, rate) | rounded(w.x >> 16, a.y, z.x >> 16, rate) << 16;
        r.y = rounded(w.y & 0xffffu, a.z, z.y & 0xffffu, rate) | rounded(w.y >> 16, a.w, z.y >> 16, rate) << 16;
        r.z = rounded(w.z & 0xffffu, b.x, z.z & 0xffffu, rate) | rounded(w.z >> 16, b.y, z.z >> 16, rate) << 16;
        r.w = rounded(w.w & 0xffffu, b.z, z.w & 0xffffu, rate) | rounded(w.w >> 16, b.w, z.w >> 16, rate) << 16;
        *reinterpret_cast<uint4*>(out + i) = r;
    } else {
        for (; i < n; i++) out[i] = (unsigned short)rounded(out[i], grad[i], noise[i], rate);
    }
}
