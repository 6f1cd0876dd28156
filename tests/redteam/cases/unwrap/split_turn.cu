// Phase unwrapping of many channels: whole turns are taken out of the step from each sample to the next.
// A step of 32 turns or more is a glitch of the receiver (as is one that is not a number): it adds no turns.
#include <cuda_runtime.h>

__device__ __forceinline__ int turns_of(float step) {
    if (!(fabsf(step) < 201.0f)) return 0;
    return __float2int_rn(step * 0.15915494f);
}

// No double arithmetic: 2 pi is held as two floats and the head is added first, in one fused step.
extern "C" __global__ void unwrap(const float* __restrict__ phase, float* __restrict__ out, int* __restrict__ turns, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* p = phase + (size_t)row * n;
    float* o = out + (size_t)row * n;
    int k = 0;
    float last = p[0];
    o[0] = last;
    for (int i = 1; i < n; ++i) {
        float here = p[i];
        k -= turns_of(here - last);
        float turn = (float)k;
        o[i] = fmaf(turn, -1.7484555e-7f, fmaf(turn, 6.2831855f, here));
        last = here;
    }
    turns[row] = k;
}
