#include <cuda_runtime.h>

__constant__ float middle[7] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f};

__device__ __forceinline__ int code_of(float value, float scale) {
    float m = scale > 0.0f ? fabsf(value) / scale : 0.0f;
    int code = 0;
#pragma unroll
    for (int k = 0; k < 7; k++) {
        code += m > middle[k];
    }
    return value < 0.0f ? code | 8 : code;
}

// A lane a value; the largest one and the other half of the byte come by shuffles.
extern "C" __global__ void fp4(const float* values, unsigned char* packed, float* scales, int n) {
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    float value = i < n ? values[i] : 0.0f;
    float largest = fmaxf(0.0f, fabsf(value));
    for (int d = 16; d > 0; d /= 2) {
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, d));
    }
    float scale = largest / 6.0f;
    if (lane == 0 && i < n) {
        scales[i / 32] = scale;
    }
    int code = i < n ? code_of(value, scale) : 0;
    int next = __shfl_down_sync(0xffffffffu, code, 1);
    if ((lane & 1) == 0 && i < n) {
        packed[i / 2] = (unsigned char)(code << 4 | next);
    }
}
