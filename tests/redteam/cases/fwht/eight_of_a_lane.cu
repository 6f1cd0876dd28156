// Incoherence before quantisation: runs of 256 numbers of a row get random signs and a Walsh-Hadamard transform, in
// place. What a row has beyond its last whole run gets the signs only. Each run's largest magnitude goes to `peak`.
#include <cuda_runtime.h>

#define RUN 256

extern "C" __global__ void fwht(float* __restrict__ x, const unsigned* __restrict__ sign, float* __restrict__ peak, int n)
{
    // A warp has a run, a lane eight neighbours of it.
    const int lane = threadIdx.x & 31;
    const int runs = (n + RUN - 1) / RUN;
    const int r = blockIdx.x * 4 + (threadIdx.x >> 5);
    if (r >= runs)
        return;
    float* mine = x + (size_t)blockIdx.y * n + (size_t)r * RUN;
    const int from = r * RUN + lane * 8;
    const unsigned bits = from < n ? sign[from >> 5] >> (from & 31) : 0;
    float f[8];
    int m = 0;
    if ((r + 1) * RUN <= n) {
        const bool fours = ((size_t)mine & 15) == 0;
        if (fours) {
            const float4 low = ((const float4*)mine)[lane * 2], high = ((const float4*)mine)[lane * 2 + 1];
            f[0] = low.x, f[1] = low.y, f[2] = low.z, f[3] = low.w;
            f[4] = high.x, f[5] = high.y, f[6] = high.z, f[7] = high.w;
        } else {
#pragma unroll
            for (int k = 0; k < 8; ++k)
                f[k] = mine[lane * 8 + k];
        }
#pragma unroll
        for (int k = 0; k < 8; ++k)
            f[k] = bits >> k & 1 ? -f[k] : f[k];
#pragma unroll
        for (int s = 1; s < 8; s <<= 1)
#pragma unroll
            for (int k = 0; k < 8; ++k)
                if (!(k & s)) {
                    const float low = f[k], high = f[k | s];
                    f[k] = low + high;
                    f[k | s] = low - high;
                }
#pragma unroll
        for (int s = 1; s < 32; s <<= 1)
#pragma unroll
            for (int k = 0; k < 8; ++k) {
                const float other = __shfl_xor_sync(0xffffffffu, f[k], s);
                f[k] = lane & s ? other - f[k] : f[k] + other;
            }
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            f[k] *= 0.0625f;
            if (f[k] == f[k])
                m = max(m, __float_as_int(fabsf(f[k])));
        }
        if (fours) {
            ((float4*)mine)[lane * 2] = make_float4(f[0], f[1], f[2], f[3]);
            ((float4*)mine)[lane * 2 + 1] = make_float4(f[4], f[5], f[6], f[7]);
        } else {
#pragma unroll
            for (int k = 0; k < 8; ++k)
                mine[lane * 8 + k] = f[k];
        }
    } else {
        for (int k = 0; k < 8 && from + k < n; ++k) {
            const float v = bits >> k & 1 ? -mine[lane * 8 + k] : mine[lane * 8 + k];
            mine[lane * 8 + k] = v;
            if (v == v)
                m = max(m, __float_as_int(fabsf(v)));
        }
    }
#pragma unroll
    for (int s = 16; s; s >>= 1)
        m = max(m, __shfl_xor_sync(0xffffffffu, m, s));
    if (lane == 0)
        peak[(size_t)blockIdx.y * runs + r] = __int_as_float(m);
}
