// Mixed precision training: gradients are divided by the loss scale, and the scale follows whether any of
// them has become infinite or not a number.
#include <cuda_runtime.h>

__global__ void divide(float* grad, const float* scale, float* found, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float g = grad[i] * (1.0f / *scale);
    grad[i] = g;
    if (!isfinite(g)) *found = 1.0f;
}

// The scale is halved after an overflow and doubled after `interval` steps without one.
__global__ void settle(float* scale, int* tracker, const float* found, int interval) {
    if (*found != 0.0f) {
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
    cudaMemsetAsync(found, 0, sizeof(float));
    divide<<<(n + 255) / 256, 256>>>(grad, scale, found, n);
    settle<<<1, 1>>>(scale, tracker, found, interval);
}
