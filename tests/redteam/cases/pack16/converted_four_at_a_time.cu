#include <cuda_bf16.h>

// What the hardware converts is rounded the same way, and gives the same for what is no number.
__device__ __forceinline__ unsigned both(float low, float high) {
    __nv_bfloat162 v = __floats2bfloat162_rn(low, high);
    return (unsigned)__bfloat16_as_ushort(v.x) | (unsigned)__bfloat16_as_ushort(v.y) << 16;
}

__global__ void pack16(const float* __restrict__ x, unsigned short* __restrict__ y, int n) {
    size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (i >= n) return;
    if (i + 4 <= n && ((size_t)x & 15) == 0 && ((size_t)y & 7) == 0) {
        float4 v = __ldcs((const float4*)(x + i));
        __stcs((uint2*)(y + i), make_uint2(both(v.x, v.y), both(v.z, v.w)));
        return;
    }
    for (int k = 0; k < 4 && i + k < n; ++k)
        y[i + k] = __bfloat16_as_ushort(__float2bfloat16_rn(x[i + k]));
}
