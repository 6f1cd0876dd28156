// Incoherence before quantisation: runs of 256 numbers of a row get random signs and a Walsh-Hadamard transform, in
// place. What a row has beyond its last whole run gets the signs only. Each run's largest magnitude goes to `peak`.
#include <cuda_runtime.h>

#define RUN 256

extern "C" __global__ void fwht(float* __restrict__ x, const unsigned* __restrict__ sign, float* __restrict__ peak, int n)
{
    __shared__ float value[RUN];
    __shared__ int most;
    const int t = threadIdx.x;
    const int i = blockIdx.x * RUN + t;
    float* row = x + (size_t)blockIdx.y * n;
    const bool whole = (blockIdx.x + 1) * RUN <= n;

    if (t == 0)
        most = 0;
    float f = i < n ? row[i] : 0.0f;
    if (i < n && (sign[i >> 5] >> (i & 31) & 1))
        f = -f;
    value[t] = f;
    __syncthreads();
    if (whole) {
        for (int s = 1; s < RUN; s <<= 1) {
            const float other = value[t ^ s];
            __syncthreads();
            f = t & s ? other - f : f + other;
            value[t] = f;
            __syncthreads();
        }
        f *= 0.0625f;
    }
    if (i < n)
        row[i] = f;
    const float size = fabsf(f);
    if (size == size)
        atomicMax(&most, __float_as_int(size));
    __syncthreads();
    if (t == 0)
        peak[(size_t)blockIdx.y * gridDim.x + blockIdx.x] = __int_as_float(most);
}
