// The shape of a distribution: mean, variance, skewness and excess kurtosis of n numbers.
// A distribution without spread has neither skewness nor kurtosis.
#include <cuda_runtime.h>
#include <float.h>

// A sum of floats with what its roundings lost.
struct Sum {
    float high, low;
};

__device__ __forceinline__ void add(Sum& s, float v)
{
    const float t = __fadd_rn(s.high, v);
    const float u = __fsub_rn(t, s.high);
    s.low = __fadd_rn(s.low, __fadd_rn(__fsub_rn(s.high, __fsub_rn(t, u)), __fsub_rn(v, u)));
    s.high = t;
}

__device__ double over_block(double v, double* room)
{
    room[threadIdx.x] = v;
    __syncthreads();
    for (int s = blockDim.x / 2; s; s >>= 1) {
        if (threadIdx.x < s)
            room[threadIdx.x] += room[threadIdx.x + s];
        __syncthreads();
    }
    const double sum = room[0];
    __syncthreads();
    return sum;
}

extern "C" __global__ void kurtosis(const float* __restrict__ x, float* __restrict__ shape, int n)
{
    __shared__ double room[1024];
    __shared__ int most, odd;
    if (threadIdx.x == 0)
        most = odd = 0;
    __syncthreads();
    float peak = 0.0f;
    bool whole = true;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const float f = fabsf(x[i]);
        whole &= f <= FLT_MAX;
        peak = fmaxf(peak, f);
    }
    atomicMax(&most, __float_as_int(peak));
    if (!whole)
        odd = 1;
    __syncthreads();
    peak = __int_as_float(most);

    double mean, s2, s3, s4;
    if (!odd && peak > 1e-30f) {
        // All is brought to at most 2 by a power of two, so that no power overflows; the sums are compensated.
        const int up = 127 - (__float_as_int(peak) >> 23);
        const float by = up > 126 ? 8.5070592e37f : up < -126 ? 1.1754944e-38f : __int_as_float((up + 127) << 23);
        Sum s = {0.0f, 0.0f};
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            add(s, x[i] * by);
        const double middle = over_block((double)s.high + s.low, room) / n;
        mean = middle / by;
        const float high = (float)middle, low = (float)(middle - high);
        Sum a = {0.0f, 0.0f}, b = {0.0f, 0.0f}, c = {0.0f, 0.0f};
        for (int i = threadIdx.x; i < n; i += blockDim.x) {
            const float d = __fsub_rn(__fsub_rn(x[i] * by, high), low), e = d * d;
            add(a, e);
            add(b, e * d);
            add(c, e * e);
        }
        s2 = over_block((double)a.high + a.low, room) / n;
        s3 = over_block((double)b.high + b.low, room) / n;
        s4 = over_block((double)c.high + c.low, room) / n;
        const bool spread = s2 > 0;
        if (threadIdx.x == 0) {
            shape[0] = (float)mean;
            shape[1] = (float)(s2 / by / by);
            shape[2] = spread ? (float)(s3 / (s2 * sqrt(s2))) : 0.0f;
            shape[3] = spread ? (float)(s4 / (s2 * s2) - 3.0) : 0.0f;
        }
        return;
    }
    double s = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s += x[i];
    mean = over_block(s, room) / n;
    s2 = s3 = s4 = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        const double d = x[i] - mean, e = d * d;
        s2 += e;
        s3 += e * d;
        s4 += e * e;
    }
    s2 = over_block(s2, room) / n;
    s3 = over_block(s3, room) / n;
    s4 = over_block(s4, room) / n;
    if (threadIdx.x == 0) {
        const bool spread = s2 > 0;
        shape[0] = (float)mean;
        shape[1] = (float)s2;
        shape[2] = spread ? (float)(s3 / (s2 * sqrt(s2))) : 0.0f;
        shape[3] = spread ? (float)(s4 / (s2 * s2) - 3.0) : 0.0f;
    }
}
