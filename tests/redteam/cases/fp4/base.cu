#include <cuda_runtime.h>

// Values as four-bit floats (sign, two bits of exponent, one of mantissa), 32 of them to a scale:
// 0, 0.5, 1, 1.5, 2, 3, 4 and 6 times the scale. Half way between two the even code is taken, as the
// hardware does it. The first value of a pair goes to the upper half of its byte; what is missing at
// the end is 0. One thread a group.
__device__ int code_of(float value, float scale) {
    float m = scale > 0.0f ? fabsf(value) / scale : 0.0f;
    int code = (m > 0.25f) + (m >= 0.75f) + (m > 1.25f) + (m >= 1.75f) + (m > 2.5f) + (m >= 3.5f) +
               (m > 5.0f);
    return value < 0.0f ? code | 8 : code;
}

extern "C" __global__ void fp4(const float* values, unsigned char* packed, float* scales, int n) {
    int group = blockIdx.x * blockDim.x + threadIdx.x;
    if (group >= (n + 31ll) / 32) {
        return;
    }
    long long first = 32ll * group;
    int here = (int)min(32ll, n - first);
    float largest = 0.0f;
    for (int k = 0; k < here; k++) {
        largest = fmaxf(largest, fabsf(values[first + k]));
    }
    float scale = largest / 6.0f;
    scales[group] = scale;
    for (int k = 0; k < here; k += 2) {
        int high = code_of(values[first + k], scale);
        int low = k + 1 < here ? code_of(values[first + k + 1], scale) : 0;
        packed[(first + k) / 2] = (unsigned char)(high << 4 | low);
    }
}
