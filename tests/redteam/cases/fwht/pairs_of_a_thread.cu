// Incoherence before quantisation: runs of 256 numbers of a row get random signs and a Walsh-Hadamard transform, in
// place. What a row has beyond its last whole run gets the signs only. Each run's largest magnitude goes to `peak`.
#include <cuda_runtime.h>

#define RUN 256

extern "C" __global__ void fwht(float* __restrict__ x, const unsigned* __restrict__ sign, float* __restrict__ peak, int n)
{
    __shared__ float value[RUN];
    __shared__ int most;
    const int t = threadIdx.x;
    const int from = blockIdx.x * RUN;
    float* row = x + (size_t)blockIdx.y * n;

    if (t == 0)
        most = 0;
    for (int k = t; k < RUN; k += RUN / 2) {
        const int i = from + k;
        float f = i < n ? row[i] : 0.0f;
        if (i < n && (sign[i >> 5] >> (i & 31) & 1))
            f = -f;
        value[k] = f;
    }
    __syncthreads();
    float scale = 1.0f;
    if (from + RUN <= n) {
        // A thread has a pair at each stage. The pairs of a warp lie in 64 neighbours, so that its stages need no barrier.
#pragma unroll
        for (int s = 1; s < RUN; s <<= 1) {
            const int low = 2 * (t & ~(s - 1)) + (t & (s - 1));
            const float p = value[low], q = value[low + s];
            value[low] = p + q;
            value[low + s] = p - q;
            if (s <= 32)
                __syncwarp();
            else
                __syncthreads();
        }
        scale = 0.0625f;
    }
    int m = 0;
    for (int k = t; k < RUN; k += RUN / 2)
        if (from + k < n) {
            const float f = value[k] * scale;
            row[from + k] = f;
            if (f == f)
                m = max(m, __float_as_int(fabsf(f)));
        }
    atomicMax(&most, m);
    __syncthreads();
    if (t == 0)
        peak[(size_t)blockIdx.y * gridDim.x + blockIdx.x] = __int_as_float(most);
}
