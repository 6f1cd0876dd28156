#include <cuda_runtime.h>

// Where two codes meet; a magnitude that lies there goes to the even one.
__constant__ float middle[8] = {0.25f, 0.75f, 1.25f, 1.75f, 2.5f, 3.5f, 5.0f, 0.0f};

__device__ __forceinline__ int code_of(float value, float scale) {
    float m = fabsf(value) / scale;
    int code = 7;
#pragma unroll
    for (int k = 0; k < 7; k++) {
        code -= m < middle[k] || ((k & 1) == 0 && m == middle[k]);
    }
    return value < 0.0f ? code | 8 : code;
}

// Eight lanes a group, four values a lane; blocks stay.
extern "C" __global__ void fp4(const float* values, unsigned char* packed, float* scales, int n) {
    bool vectors = ((size_t)values & 15) == 0 && ((size_t)packed & 1) == 0;
    long long rounds = (n + 4ll * blockDim.x - 1) / (4ll * blockDim.x);
    for (long long round = blockIdx.x; round < rounds; round += gridDim.x) {
        long long i = 4 * (round * blockDim.x + threadIdx.x);
        float v[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        bool full = i + 4 <= n;
        if (full && vectors) {
            float4 all = *(const float4*)(values + i);
            v[0] = all.x;
            v[1] = all.y;
            v[2] = all.z;
            v[3] = all.w;
        } else {
            for (int k = 0; k < 4; k++) {
                v[k] = i + k < n ? values[i + k] : 0.0f;
            }
        }
        float largest = 0.0f;
        for (int k = 0; k < 4; k++) {
            largest = fmaxf(largest, fabsf(v[k]));
        }
        for (int d = 1; d < 8; d *= 2) {
            largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, d));
        }
        float scale = largest / 6.0f;
        if (i % 32 == 0 && i < n) {
            scales[i / 32] = scale;
        }
        int c[4];
        for (int k = 0; k < 4; k++) {
            c[k] = i + k < n ? code_of(v[k], scale) : 0;
        }
        int left = c[0] << 4 | c[1];
        int right = c[2] << 4 | c[3];
        if (full && vectors) {
            *(unsigned short*)(packed + i / 2) = (unsigned short)(left | right << 8);
        } else {
            if (i < n) {
                packed[i / 2] = (unsigned char)left;
            }
            if (i + 2 < n) {
                packed[i / 2 + 1] = (unsigned char)right;
            }
        }
    }
}
