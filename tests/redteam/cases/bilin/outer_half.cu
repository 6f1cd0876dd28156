#include <cuda_fp16.h>

// The pair as an outer product: two products at a time in half, the sum over W in float.
#define D 64

extern "C" __global__ void bilin(const __half* __restrict__ x, const __half* __restrict__ w,
                                 const __half* __restrict__ y, float* __restrict__ out, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    int lane = threadIdx.x & 31;
    if (i >= n) return;
    const __half2* xi = reinterpret_cast<const __half2*>(x + (size_t)i * D);
    const __half2* w2 = reinterpret_cast<const __half2*>(w);
    __half2 b = reinterpret_cast<const __half2*>(y + (size_t)i * D)[lane];
    float s = 0.0f, t = 0.0f;
    #pragma unroll 8
    for (int a = 0; a < D / 2; a++) {
        float2 p = __half22float2(__hmul2(__low2half2(xi[a]), b));
        float2 q = __half22float2(__hmul2(__high2half2(xi[a]), b));
        float2 f = __half22float2(w2[(2 * a) * (D / 2) + lane]);
        float2 g = __half22float2(w2[(2 * a + 1) * (D / 2) + lane]);
        s = fmaf(p.x, f.x, s);
        t = fmaf(p.y, f.y, t);
        s = fmaf(q.x, g.x, s);
        t = fmaf(q.y, g.y, t);
    }
    s += t;
    for (int d = 16; d > 0; d >>= 1) s += __shfl_xor_sync(0xffffffffu, s, d);
    if (lane == 0) out[i] = s;
}
