#include <cuda_runtime.h>
#include <math.h>
#define POINTS 256

// Tones of a picture bent by a curve whose points each block works out, one a thread.
__global__ void bend(const float* x, float gamma, float gain, float* y, int n) {
    __shared__ float at[POINTS];
    at[threadIdx.x] = gain * powf(threadIdx.x / (POINTS - 1.f), gamma);
    __syncthreads();
    for (size_t i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) {
        float p = fminf(fmaxf(x[i], 0.f), 1.f) * (POINTS - 1);
        int k = min((int)p, POINTS - 2);
        y[i] = at[k] + (p - k) * (at[k + 1] - at[k]);
    }
}

extern "C" void curve(const float* x, float* y, int n, float gamma, float gain) {
    bend<<<n < 270336 ? (n + 255) / 256 : 1056, 256>>>(x, gamma, gain, y, n);
}
