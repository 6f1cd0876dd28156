// Incoherence before quantisation: runs of 256 numbers of a row get random signs and a Walsh-Hadamard transform, in
// place. What a row has beyond its last whole run gets the signs only. Each run's largest magnitude goes to `peak`.
#include <cuda_runtime.h>

#define RUN 256

extern "C" __global__ void fwht(float* __restrict__ x, const unsigned* __restrict__ sign, float* __restrict__ peak, int n)
{
    __shared__ float value[RUN];
    __shared__ int most[RUN / 32];
    const int t = threadIdx.x;
    const int i = blockIdx.x * RUN + t;
    float* row = x + (size_t)blockIdx.y * n;
    const bool whole = (blockIdx.x + 1) * RUN <= n;

    float f = i < n ? row[i] : 0.0f;
    if (i < n && (sign[i >> 5] >> (i & 31) & 1))
        f = -f;
    if (whole) {
        // Five stages within a warp, and three between the warps, which take all eight values at once.
#pragma unroll
        for (int s = 1; s < 32; s <<= 1) {
            const float other = __shfl_xor_sync(0xffffffffu, f, s);
            f = t & s ? other - f : f + other;
        }
        value[t] = f;
        __syncthreads();
        float v[8];
#pragma unroll
        for (int w = 0; w < 8; ++w)
            v[w] = value[w * 32 + (t & 31)];
#pragma unroll
        for (int s = 1; s < 8; s <<= 1)
#pragma unroll
            for (int w = 0; w < 8; ++w)
                if (!(w & s)) {
                    const float low = v[w], high = v[w | s];
                    v[w] = low + high;
                    v[w | s] = low - high;
                }
#pragma unroll
        for (int w = 0; w < 8; ++w)
            if (w == t >> 5)
                f = v[w];
        f *= 0.0625f;
    }
    if (i < n)
        row[i] = f;
    const float size = fabsf(f);
    int m = size == size ? __float_as_int(size) : 0;
#pragma unroll
    for (int s = 16; s; s >>= 1)
        m = max(m, __shfl_xor_sync(0xffffffffu, m, s));
    if ((t & 31) == 0)
        most[t >> 5] = m;
    __syncthreads();
    if (t == 0) {
        for (int w = 1; w < RUN / 32; ++w)
            m = max(m, most[w]);
        peak[(size_t)blockIdx.y * gridDim.x + blockIdx.x] = __int_as_float(m);
    }
}
