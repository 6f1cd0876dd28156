#include <cuda_fp16.h>
__device__ float one(float g, float u, float limit) {
    g = g > limit ? limit : g;
    u = u > limit ? limit : u < -limit ? -limit : u;
    return g / (1.f + expf(-g)) * u;
}

__global__ void swiglu(const __half* gate, const __half* up, __half* out, int rows, int width,
                       float limit) {
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x), n = rows * width;
    if (i + 1 >= n + (n & 1)) return;
    float2 g = __half22float2(*(const __half2*)(gate + i));
    float2 u = __half22float2(*(const __half2*)(up + i));
    *(__half2*)(out + i) = __floats2half2_rn(one(g.x, u.x, limit), one(g.y, u.y, limit));
}
