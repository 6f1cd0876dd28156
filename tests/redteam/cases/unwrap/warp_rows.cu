// Phase unwrapping of many channels: whole turns are taken out of the step from each sample to the next.
// A step of 32 turns or more is a glitch of the receiver (as is one that is not a number): it adds no turns.
#include <cuda_runtime.h>

__device__ __forceinline__ int turns_of(float step) {
    if (!(fabsf(step) < 201.0f)) return 0;
    return __float2int_rn(step * 0.15915494f);
}

// One warp per channel: a warp-wide scan of the turns, 32 samples at a time, so that all accesses coalesce.
extern "C" __global__ void unwrap(const float* phase, float* out, int* turns, int rows, int n) {
    int lane = threadIdx.x & 31;
    int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
    if (row >= rows) return;
    const float* p = phase + (size_t)row * n;
    float* o = out + (size_t)row * n;
    int carry = 0;
    float before = p[0];
    for (int first = 0; first < n; first += 32) {
        int i = first + lane;
        float here = i < n ? p[i] : 0.0f;
        float left = __shfl_up_sync(0xffffffffu, here, 1);
        if (lane == 0) left = before;
        int k = i < n ? -turns_of(here - left) : 0;
        for (int d = 1; d < 32; d <<= 1) {
            int v = __shfl_up_sync(0xffffffffu, k, d);
            if (lane >= d) k += v;
        }
        k += carry;
        if (i < n) o[i] = i == 0 ? here : (float)((double)here + 6.283185307179586 * k);
        carry = __shfl_sync(0xffffffffu, k, 31);
        before = __shfl_sync(0xffffffffu, here, 31);
    }
    if (lane == 0) turns[row] = carry;
}
