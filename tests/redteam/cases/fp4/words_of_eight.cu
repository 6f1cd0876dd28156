#include <cuda_runtime.h>

__device__ __forceinline__ int code_of(float value, float scale) {
    float m = scale > 0.0f ? fabsf(value) / scale : 0.0f;
    int code = (m > 0.25f) + (m >= 0.75f) + (m > 1.25f) + (m >= 1.75f) + (m > 2.5f) + (m >= 3.5f) +
               (m > 5.0f);
    return value < 0.0f ? code | 8 : code;
}

// A lane a value; the largest one and the other codes come by shuffles.
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
    // Eight codes to a word, which one lane writes.
    unsigned word = code << (((lane & 6) << 2) | ((lane & 1) ? 0 : 4));
    for (int d = 1; d < 8; d *= 2) {
        word |= __shfl_xor_sync(0xffffffffu, word, d);
    }
    if ((lane & 7) == 0 && i < n) {
        *(unsigned*)(packed + i / 2) = word;
    }
}
