#include <cuda_fp16.h>

struct Gelu {
    __device__ __forceinline__ float operator()(float v) const {
        const float t = tanhf(0.7978845608f * (v + 0.044715f * v * v * v));
        return 0.5f * v * (1.0f + t);
    }
};

__global__ void gelu(const __half* __restrict__ x, const __half* __restrict__ bias, __half* y,
                     int rows, int cols) {
    const Gelu f{};
    const int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x), n = rows * cols;
    if (i >= n) return;
    if (cols % 2 == 0) {
        const float2 v = __half22float2(*reinterpret_cast<const __half2*>(x + i));
        const float2 b = __half22float2(*reinterpret_cast<const __half2*>(bias + i % cols));
        *reinterpret_cast<__half2*>(y + i) = __floats2half2_rn(f(v.x + b.x), f(v.y + b.y));
        return;
    }
    for (int k = i; k < min(i + 2, n); ++k)
        y[k] = __float2half(f(__half2float(x[k]) + __half2float(bias[k % cols])));
}
