#include <cuda_fp16.h>

__global__ void votes(const int* index, const float* value, __half* out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    i = n - 1 - i;
    if (i >= 0) atomicAdd(out + index[i], __float2half(value[i]));
}
