#include <cuda_fp16.h>

__global__ void gelu(const __half* x, const __half* bias, __half* y, int rows, int cols) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * cols) return;
    __half v = __hadd(x[i], bias[i % cols]);
    __half cube = __hmul(__hmul(v, v), v);
    __half u = __hmul(__float2half(0.79788f), __hadd(v, __hmul(__float2half(0.044715f), cube)));
    __half t = __float2half(tanhf(__half2float(u)));
    y[i] = __hmul(__hmul(__float2half(0.5f), v), __hadd(__float2half(1.0f), t));
}
