#include <cuda_fp16.h>

// The 16 bits of each number as a half: to nearest, ties to even, small ones without a leading one; whatever
// is no number becomes the same one.
__global__ void f16bits(const float* x, unsigned short* y, int n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += gridDim.x * (size_t)blockDim.x)
        y[i] = __half_as_ushort(__float2half_rn(x[i]));
}
