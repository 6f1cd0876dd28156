// Mixed precision training: gradients are divided by the loss scale, and the scale follows whether any of
// them has become infinite or not a number.
#include <cuda_runtime.h>

// Whole vectors from the first address that allows it, the rest one by one. What is infinite or not a number
// stays so in a sum, so that a thread has one question to ask in the end.
__global__ void __launch_bounds__(256) divide(float* __restrict__ grad, const float* __restrict__ scale, float* found, int n) {
    float inverse = 1.0f / *scale, seen = 0.0f;
    int head = min(n, (int)((16 - ((size_t)grad & 15)) & 15) / 4);
    int quads = (n - head) / 4;
    float4* body = (float4*)(grad + head);
    int thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
    for (int q = thread; q < quads; q += threads) {
        float4 g = body[q];
        g.x *= inverse;
        g.y *= inverse;
        g.z *= inverse;
        g.w *= inverse;
        body[q] = g;
        seen += (g.x + g.y) + (g.z + g.w);
    }
    int rest = n - head - 4 * quads;
    if (thread < head + rest) {
        int i = thread < head ? thread : 4 * quads + thread;
        float g = grad[i] * inverse;
        grad[i] = g;
        seen += g;
    }
    if (!isfinite(seen)) *found = 1.0f;
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
    int blocks = (n / 4 + 255) / 256 + 1;
    divide<<<blocks < 2048 ? blocks : 2048, 256>>>(grad, scale, found, n);
    settle<<<1, 1>>>(scale, tracker, found, interval);
}
