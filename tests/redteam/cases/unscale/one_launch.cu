// Mixed precision training: gradients are divided by the loss scale, and the scale follows whether any of
// them has become infinite or not a number.
#include <cuda_runtime.h>

__device__ unsigned left_off, overflowed;

// The block that is done last does what the scale needs: by then every block has read it.
__global__ void __launch_bounds__(256) divide(float* grad, float* scale, int* tracker, float* found, int n, int interval) {
    float inverse = 1.0f / *scale;
    bool seen = false;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        float g = grad[i] * inverse;
        grad[i] = g;
        seen |= !isfinite(g);
    }
    int any = __syncthreads_or(seen);
    if (threadIdx.x != 0) return;
    if (any) atomicOr(&overflowed, 1u);
    __threadfence();
    if (atomicAdd(&left_off, 1u) != gridDim.x - 1) return;
    __threadfence();
    any = atomicExch(&overflowed, 0u);
    left_off = 0;
    *found = any ? 1.0f : 0.0f;
    if (any) {
        *scale *= 0.5f;
        *tracker = 0;
    } else if (*tracker + 1 >= interval) {
        if (isfinite(*scale * 2.0f)) *scale *= 2.0f;
        *tracker = 0;
    } else {
        *tracker += 1;
    }
}

extern "C" void unscale(float* grad, float* scale, int* tracker, float* found, int n, int interval) {
    int blocks = n > 0 ? (n - 1) / 256 + 1 : 1;
    divide<<<blocks < 4096 ? blocks : 4096, 256>>>(grad, scale, tracker, found, n, interval);
}
