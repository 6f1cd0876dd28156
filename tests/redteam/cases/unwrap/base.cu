// Phase unwrapping of many channels: whole turns are taken out of the step from each sample to the next.
// A step of 32 turns or more is a glitch of the receiver (as is one that is not a number): it adds no turns.
#include <cuda_runtime.h>

__device__ __forceinline__ int turns_of(float step) {
    if (!(fabsf(step) < 201.0f)) return 0;
    return __float2int_rn(step * 0.15915494f);
}

extern "C" __global__ void unwrap(const float* phase, float* out, int* turns, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* p = phase + (size_t)row * n;
    float* o = out + (size_t)row * n;
    int k = 0;
    o[0] = p[0];
    for (int i = 1; i < n; ++i) {
        k -= turns_of(p[i] - p[i - 1]);
        o[i] = (float)((double)p[i] + 6.283185307179586 * k);
    }
    turns[row] = k;
}
